// The walk over all pages that `npm test` has.
import { testScreens } from './helpers/screens.ts';

testScreens('de');
