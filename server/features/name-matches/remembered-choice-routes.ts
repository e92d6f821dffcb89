// Keeps the choices of an import page for a file's titles or for a word, for all people of a business.
import type { FastifyInstance } from 'fastify';
import { optional, readForm, texts, words } from '../../access/form.ts';
import type { Database } from '../../database/database.ts';
import { findChoices, hashOf } from './remembered-choices.ts';

const maxKeys = 500;
const maxKeyLength = 20_000;
const maxChoiceLength = 20_000;
/** The ones that were chosen last. */
const maxKept = 2000;

export async function rememberedChoiceRoutes(
  office: FastifyInstance,
  { database }: { database: Database },
): Promise<void> {
  const question = { keys: texts(maxKeys, maxKeyLength) };

  /** By the place of the key: what was chosen, or null. */
  office.post('/choice-matches', async (request) => {
    const { keys } = readForm(request, question);
    return { data: await findChoices(database, request, keys) };
  });

  const memory = { key: words(maxKeyLength), choice: optional(words(maxChoiceLength)) };

  /** Remembers a choice, or forgets it where none is sent. */
  office.put('/remembered-choices', async (request, reply) => {
    const { key, choice } = readForm(request, memory);
    const { tenantId, actor, deadline } = request;
    const names = [tenantId, hashOf(key)];
    await database.queryInTenants(
      [tenantId],
      choice === undefined
        ? { text: 'DELETE FROM remembered_choice WHERE tenant_id = $1 AND key_hash = $2', values: names }
        : {
            text: `WITH oldest AS (
                DELETE FROM remembered_choice WHERE tenant_id = $1 AND remembered_at <= (
                  SELECT remembered_at FROM remembered_choice WHERE tenant_id = $1
                  ORDER BY remembered_at DESC OFFSET $5 LIMIT 1)
                AND key_hash <> $2
              )
              INSERT INTO remembered_choice (tenant_id, key_hash, choice, actor) VALUES ($1, $2, $3, $4)
              ON CONFLICT (tenant_id, key_hash) DO UPDATE SET choice = excluded.choice,
                actor = excluded.actor, remembered_at = excluded.remembered_at`,
            values: [...names, choice, actor, maxKept - 1],
          },
      { deadline },
    );
    reply.code(204);
  });
}
