// A person's own passkeys and recovery codes, and what Verwaltung decides about those of the business.
import type { FastifyInstance, FastifyReply } from 'fastify';
import type pg from 'pg';
import { attemptLimits, countAttempt, hashSubject } from '../../access/attempts.ts';
import { recordAudit } from '../../access/audit-log.ts';
import { flag, optional, readForm, words } from '../../access/form.ts';
import { sessionOf } from '../../access/office-access.ts';
import type { Database } from '../../database/database.ts';
import { type IdRoute, idOf, inTenantOf } from '../../engine/http/route-conventions.ts';
import { ApiError } from '../../errors.ts';
import { nameAuthenticator } from './authenticator-name.ts';
import { attestation } from './credential-input.ts';
import {
  addPasskey,
  countPasskeys,
  listCredentials,
  listPasskeys,
  removeAllPasskeys,
  removePasskey,
  renamePasskey,
  requiresPasskeys,
  setPasskeyRequirement,
} from './passkeys.ts';
import { countRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.ts';
import { demandRelyingParty, offerRegistration, verifyAttestation } from './webauthn.ts';

const maxNameLength = 60;
const ownWithProof = { needsRecentProof: true } as const;
/** Data for adding the passkey that the business requires. */
const registration = { ...ownWithProof, allowsMissingPasskey: true } as const;
const forVerwaltungWithProof = { needsRecentProof: true } as const;

interface Options {
  database: Database;
  publicUrl: string | undefined;
}

export async function passkeyRoutes(app: FastifyInstance, options: Options): Promise<void> {
  addRegistrationRoutes(app, options);
  addOwnPasskeyRoutes(app, options);
  addRequirementRoutes(app, options);
}

function addRegistrationRoutes(app: FastifyInstance, { database, publicUrl }: Options): void {
  app.get('/passkeys', { config: { allowsMissingPasskey: true } }, async (request) => {
    const { tenantId, person } = sessionOf(request);
    return inTenantOf(request, database, async (client) => ({
      data: await listPasskeys(client, tenantId, person.id),
      recoveryCodesLeft: await countRecoveryCodes(client, tenantId, person.id),
      isRequired: await requiresPasskeys(client, tenantId),
    }));
  });

  app.post(
    '/passkeys/options',
    { config: { ...registration, takesNoBody: true } },
    async (request, reply) => {
      const { tenantId, person, id: sessionId } = sessionOf(request);
      const relyingParty = demandRelyingParty(request, publicUrl);
      await countChallenge(database, reply, person.id);
      const known = await inTenantOf(request, database, (client) =>
        listCredentials(client, tenantId, person.id, relyingParty.id),
      );
      return offerRegistration(database, relyingParty, sessionId, person, known);
    },
  );

  app.post('/passkeys', { config: registration }, async (request, reply) => {
    const { tenantId, person, id: sessionId } = sessionOf(request);
    const relyingParty = demandRelyingParty(request, publicUrl);
    const form = readForm(request, { name: optional(words(maxNameLength)), credential: attestation });
    const { credential, aaguid } = await verifyAttestation(
      database,
      relyingParty,
      sessionId,
      form.credential,
    );
    const name = form.name ?? nameAuthenticator(aaguid, request.headers['user-agent']);
    const id = await inTenantOf(request, database, async (client) => {
      const added = await addPasskey(client, tenantId, person.id, {
        credentialId: credential.id,
        publicKey: credential.publicKey,
        counter: credential.counter,
        transports: form.credential.transports,
        rpId: relyingParty.id,
        name,
      });
      await recordAudit(client, tenantId, request, {
        event: 'PASSKEY_ADDED',
        subject: person,
        details: { passkey: name },
      });
      return added;
    });
    reply.code(201);
    return { id, name };
  });
}

function addOwnPasskeyRoutes(app: FastifyInstance, { database }: Options): void {
  app.patch<IdRoute>('/passkeys/:id', { config: ownWithProof }, async (request) => {
    const { tenantId, person } = sessionOf(request);
    const { name } = readForm(request, { name: words(maxNameLength) });
    const id = idOf(request);
    await inTenantOf(request, database, (client) => renamePasskey(client, tenantId, person.id, id, name));
    return { id, name };
  });

  app.delete<IdRoute>('/passkeys/:id', { config: ownWithProof }, async (request, reply) => {
    const { tenantId, person } = sessionOf(request);
    await inTenantOf(request, database, async (client) => {
      const name = await removePasskey(client, tenantId, person.id, idOf(request));
      await recordAudit(client, tenantId, request, {
        event: 'PASSKEY_REMOVED',
        subject: person,
        details: { passkey: name },
      });
    });
    reply.code(204);
  });

  app.post('/recovery-codes', { config: { ...ownWithProof, takesNoBody: true } }, async (request, reply) => {
    const { tenantId, person } = sessionOf(request);
    const codes = await inTenantOf(request, database, async (client) => {
      // Without a passkey no sign-in asks for a code.
      if ((await countPasskeys(client, tenantId, person.id)) === 0) throw new ApiError('passkey_missing');
      await recordAudit(client, tenantId, request, { event: 'RECOVERY_CODES_CREATED', subject: person });
      return replaceRecoveryCodes(client, tenantId, person.id);
    });
    reply.code(201);
    return { codes };
  });
}

/** Only Verwaltung can do this. */
function addRequirementRoutes(app: FastifyInstance, { database }: Options): void {
  app.get('/passkey-requirement', async (request) => {
    const { tenantId } = sessionOf(request);
    return inTenantOf(request, database, async (client) => ({
      isRequired: await requiresPasskeys(client, tenantId),
      people: await countPasskeysOfAll(client, tenantId),
    }));
  });

  app.put('/passkey-requirement', { config: forVerwaltungWithProof }, async (request) => {
    const { tenantId, person } = sessionOf(request);
    const { isRequired } = readForm(request, { isRequired: flag });
    await inTenantOf(request, database, async (client) => {
      await setPasskeyRequirement(client, tenantId, person.id, isRequired);
      await recordAudit(client, tenantId, request, {
        event: 'SETTINGS_CHANGED',
        details: { requiresPasskeys: isRequired },
      });
    });
    return { isRequired };
  });

  app.delete<IdRoute>('/people/:id/passkeys', { config: forVerwaltungWithProof }, async (request, reply) => {
    const { tenantId } = sessionOf(request);
    const id = idOf(request);
    await inTenantOf(request, database, async (client) => {
      const count = await removeAllPasskeys(client, tenantId, id);
      await recordAudit(client, tenantId, request, {
        event: 'PASSKEY_REMOVED',
        subject: { id, name: await nameOf(client, tenantId, id) },
        details: { count },
      });
    });
    reply.code(204);
  });
}

/** Each challenge is a row for some minutes: a person asks for few of them. */
export async function countChallenge(
  database: Database,
  reply: FastifyReply,
  personId: string,
): Promise<void> {
  await countAttempt(database, reply, hashSubject('challenge', personId), attemptLimits.address);
}

async function countPasskeysOfAll(client: pg.ClientBase, tenantId: string) {
  const { rows } = await client.query(
    `SELECT person_id AS id, count(*)::integer AS passkeys FROM passkey WHERE tenant_id = $1 GROUP BY person_id`,
    [tenantId],
  );
  return rows;
}

async function nameOf(client: pg.ClientBase, tenantId: string, id: string): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM person WHERE tenant_id = $1 AND id = $2',
    [tenantId, id],
  );
  return rows[0]?.name;
}
