import type { Definition } from '../crud/definition.ts';
import { customer } from './customer.ts';
import { site } from './site.ts';

/** Every resource, in the order of the documentation: owners before what they own. */
export const resources: readonly Definition[] = [customer, site];
