// All texts in one object, for types and tests. The app loads the parts that a page needs: language.ts.
import { texts as access } from './en/access.ts';
import { texts as common } from './en/common.ts';
import { texts as importing } from './en/import.ts';
import { texts as requests } from './en/requests.ts';
import { texts as road } from './en/road.ts';
import { texts as search } from './en/search.ts';
import { texts as settings } from './en/settings.ts';
import { texts as tables } from './en/tables.ts';
import { texts as visits } from './en/visits.ts';

export const en = {
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

export type Texts = typeof en;
