// Rounds of a comparison: each thing once a round, in turn, so that what the machine does meanwhile meets all of them.
import { type Spread, spreadOf } from './statistics.ts';

export interface Contender {
  name: string;
  /** One round; answers with a rate. */
  run(): Promise<number>;
}

/** Rates of each contender, by name. */
export async function runRounds(
  contenders: readonly Contender[],
  rounds: number,
  say: (text: string) => void,
): Promise<Map<string, Spread>> {
  const rates = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const { name, run } of contenders) {
      const rate = await run();
      rates.get(name)!.push(rate);
      say(`round ${round}: ${name}: ${Math.round(rate).toLocaleString('en-US')} /s`);
    }
  }
  return new Map([...rates].map(([name, values]) => [name, spreadOf(values)]));
}
