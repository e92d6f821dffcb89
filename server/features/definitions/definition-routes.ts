// The definitions as the web app needs them: its tables, forms and import follow from what this answers.
import type { FastifyInstance } from 'fastify';
import type { Definition as Description } from '../../../core/definition/definition.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { describeDefinition } from '../../engine/definition/description.ts';

export async function definitionRoutes(
  app: FastifyInstance,
  { resources }: { resources: readonly Definition[] },
): Promise<void> {
  const described = resources.map(describeDefinition);
  // What a role does not see, its tables and forms do not offer.
  const forCare = resources
    .filter(({ isHiddenFromCare }) => !isHiddenFromCare)
    .map((definition) => withoutFields(describeDefinition(definition), definition.hiddenFromCare));
  app.get('/definitions', async ({ session }) => (session?.person.role === 'PFLEGE' ? forCare : described));
}

function withoutFields(described: Description, hidden: readonly string[]): Description {
  const isShown = (name: string) => !hidden.includes(name.replace('-', ''));
  return {
    ...described,
    fields: described.fields.filter(({ name }) => isShown(name)),
    sorts: described.sorts.filter(isShown),
    filters: described.filters.filter(({ path }) => isShown(path)),
    emptiable: described.emptiable.filter(isShown),
    searchedBy: {
      ...described.searchedBy,
      fields: described.searchedBy.fields.filter(isShown),
      phones: described.searchedBy.phones.filter(isShown),
    },
  };
}
