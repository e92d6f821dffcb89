// Finds the record of a label by its code: the address of a record, or the text on the label.
import { call, queryString } from '../api/client.ts';
import type { Entity } from '../api/definitions.ts';
import type { Page } from '../api/records.ts';
import { isAway } from './shelf.ts';
import { type KeptAnswer, readAll, readOne } from './store.ts';

/** Labels may name the published address, which is not always the one of this page. */
export function recordPathOf(code: string): string | undefined {
  return /^https?:\/\/[^/]+(\/data\/(?:plants|containers)\/[0-9a-f-]{36})$/.exec(code)?.[1];
}

const labelled = ['plants', 'containers'];

/** Undefined where nothing has the label. Without network, plants and containers of the round are known. */
export async function findLabel(labelCode: string): Promise<string | undefined> {
  try {
    for (const collection of labelled) {
      const query = queryString({ labelCode, limit: 1 });
      const { data } = await call<Page<Entity>>('GET', `/${collection}${query}`);
      if (data[0]) return `/data/${collection}/${data[0].id}`;
    }
    return undefined;
  } catch (error) {
    if (!isAway(error)) throw error;
    const answers = await readAll<KeptAnswer>('answers');
    const kept = answers.map(({ text }): Partial<Entity> => JSON.parse(text));
    const thing = kept.find((entity) => entity.labelCode === labelCode);
    for (const collection of labelled)
      if (thing && (await readOne('answers', `/${collection}/${thing.id}`)))
        return `/data/${collection}/${thing.id}`;
    throw error;
  }
}
