// The same walk in English, dark.
import { testScreens } from './helpers/screens.ts';

testScreens('en');
