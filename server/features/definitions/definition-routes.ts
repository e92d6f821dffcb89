// The definitions as the web app needs them: its tables, forms and import follow from what this answers. And how many
// objects there are of each.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Definition as Description } from '../../../core/definition/definition.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { describeDefinition } from '../../engine/definition/description.ts';
import { UnchangedReadings } from '../../http/unchanged-readings.ts';

export async function definitionRoutes(
  app: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  const described = resources.map(describeDefinition);
  // Tables and forms do not offer what a role cannot see.
  const shownToCare = resources.filter(({ isHiddenFromCare }) => !isHiddenFromCare);
  const forCare = shownToCare.map((definition) =>
    withoutFields(describeDefinition(definition), definition.hiddenFromCare),
  );
  const isCare = ({ session }: FastifyRequest) => session?.person.role === 'PFLEGE';
  app.get('/definitions', async (request) => (isCare(request) ? forCare : described));

  const counts = new UnchangedReadings<Record<string, number>>();
  app.get('/counts', { config: { isHeavyRead: true } }, async (request) => {
    const { tenantId, deadline } = request;
    const text = countsOf(isCare(request) ? shownToCare : resources);
    return counts.read({ database, tenantId, deadline }, text, async () => {
      const query = { text, values: [tenantId] };
      const { rows } = await database.queryInTenants<Record<string, number>>([tenantId], query, { deadline });
      return rows[0]!;
    });
  });
}

/** By collection. */
function countsOf(resources: readonly Definition[]): string {
  const counts = resources.map(
    ({ table, collection }) =>
      `(SELECT count(*)::integer FROM ${table} WHERE tenant_id = $1) AS "${collection}"`,
  );
  return `SELECT ${counts.join(', ')}`;
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
