import { texts as access } from './de/access.ts';
import { texts as common } from './de/common.ts';
import { texts as importing } from './de/import.ts';
import { texts as requests } from './de/requests.ts';
import { texts as road } from './de/road.ts';
import { texts as search } from './de/search.ts';
import { texts as settings } from './de/settings.ts';
import { texts as tables } from './de/tables.ts';
import { texts as visits } from './de/visits.ts';
import type { Texts } from './en.ts';

export const de: Texts = {
  ...common,
  ...access,
  ...importing,
  ...requests,
  ...road,
  ...search,
  ...settings,
  ...tables,
  ...visits,
};
