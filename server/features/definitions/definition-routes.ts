// The definitions as the web app needs them: its tables, forms and import follow from what this answers.
import type { FastifyInstance } from 'fastify';
import type { Definition } from '../../engine/definition/definition.ts';
import { describeDefinition } from '../../engine/definition/description.ts';

export async function definitionRoutes(
  app: FastifyInstance,
  { resources }: { resources: readonly Definition[] },
): Promise<void> {
  const described = resources.map(describeDefinition);
  app.get('/definitions', { config: { access: 'SELF' } }, async () => described);
}
