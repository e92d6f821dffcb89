// Rounds of a comparison: each thing once per round, in turn. So other work on the machine meets all of them.
import type { Bench } from './scenario.ts';
import { type Spread, spreadOf } from './statistics.ts';

export interface Contender {
  name: string;
  /** One round; answers with a rate. */
  run(): Promise<number>;
}

/** Rates of each contender, by name. Further work of a round runs at its end and receives the round's rates. */
export async function runRounds(
  { options, say }: Bench,
  contenders: readonly Contender[],
  endRound: (rates: ReadonlyMap<string, number>) => Promise<void> = async () => {},
): Promise<Map<string, Spread>> {
  const rates = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < options.rounds; round++) {
    for (const { name, run } of contenders) {
      const rate = await run();
      rates.get(name)!.push(rate);
      say(`round ${round + 1}: ${name}: ${Math.round(rate).toLocaleString('en-US')} /s`);
    }
    await endRound(new Map([...rates].map(([name, values]) => [name, values[round]!])));
  }
  return new Map([...rates].map(([name, values]) => [name, spreadOf(values)]));
}
