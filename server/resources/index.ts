import type { Definition } from '../engine/definition/definition.ts';
import { absence } from './absence.ts';
import { appointment } from './appointment.ts';
import { contactPerson } from './contact-person.ts';
import { container } from './container.ts';
import { contract } from './contract.ts';
import { customer } from './customer.ts';
import { employee } from './employee.ts';
import { plant } from './plant.ts';
import { product } from './product.ts';
import { site } from './site.ts';

/** Every resource; an owner stands before what it owns, which is also the order of an import. */
export const resources: readonly Definition[] = [
  customer,
  contactPerson,
  contract,
  employee,
  product,
  site,
  container,
  plant,
  appointment,
  absence,
];
