// Signing in with a passkey: instead of a password, or after it. A recovery code replaces the passkey after a password.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { attemptLimits, countAttempt, hashSubject } from '../../access/attempts.ts';
import { recordAudit } from '../../access/audit-log.ts';
import { optional, readForm, words } from '../../access/form.ts';
import { networkOf } from '../../access/network.ts';
import { beginSession, endSession, readSessionCookie } from '../../access/sessions.ts';
import type { Database } from '../../database/database.ts';
import { ApiError, validationError } from '../../errors.ts';
import { assertion } from './credential-input.ts';
import { listCredentials, notePasskeyUse } from './passkeys.ts';
import { countRecoveryCodes, redeemRecoveryCode } from './recovery-codes.ts';
import {
  endPendingSignIn,
  type PendingSignIn,
  type SecondFactor,
  tryPendingSignIn,
} from './second-factor.ts';
import {
  type Assertion,
  demandRelyingParty,
  findRelyingParty,
  offerAssertion,
  personIdOf,
  verifyAssertion,
} from './webauthn.ts';

const maxCodeLength = 50;
const maxTokenLength = 100;
/** Many people of an office share an address, and each click on the button asks for one. */
const challengesOfNetwork = 300;

type Method = 'passkey' | 'password and passkey' | 'password and recovery code';

interface Options {
  database: Database;
  publicUrl: string | undefined;
  /** Answers with the person and sets the cookie of the new session. */
  welcome: (request: FastifyRequest, reply: FastifyReply, token: string) => Promise<object>;
}

export async function passkeySignInRoutes(app: FastifyInstance, options: Options): Promise<void> {
  addPasskeyRoutes(app, options);
  addSecondFactorRoute(app, options);
}

/** Instead of a password. */
function addPasskeyRoutes(app: FastifyInstance, { database, publicUrl, welcome }: Options): void {
  app.post('/session/passkey/options', { config: { takesNoBody: true } }, async (request, reply) => {
    const relyingParty = demandRelyingParty(request, publicUrl);
    const network = hashSubject('challenge', networkOf(request.ip));
    await countAttempt(database, reply, network, challengesOfNetwork);
    return offerAssertion(database, relyingParty, { purpose: 'SIGN_IN' });
  });

  app.post('/session/passkey', async (request, reply) => {
    const { credential } = readForm(request, { credential: assertion });
    const relyingParty = demandRelyingParty(request, publicUrl);
    const network = hashSubject('passkey', networkOf(request.ip));
    await countAttempt(database, reply, network, attemptLimits.address);
    const personId = personIdOf(credential.userHandle);
    if (!personId) throw new ApiError('passkey_refused');
    const used = await verifyAssertion(database, relyingParty, { purpose: 'SIGN_IN' }, personId, credential);
    const person = { tenantId: used.tenantId, personId };
    const token = await begin(database, request, person, 'passkey', (client) =>
      notePasskeyUse(client, used.tenantId, used),
    );
    await database.pool.query('SELECT forgive_sign_in($1, $2)', [hashSubject('passkey', personId), network]);
    return welcome(request, reply, token);
  });
}

/** After a password. */
function addSecondFactorRoute(app: FastifyInstance, options: Options): void {
  app.post('/session/second-factor', async (request, reply) => {
    const form = readForm(request, {
      token: words(maxTokenLength),
      credential: optional(assertion),
      recoveryCode: optional(words(maxCodeLength)),
    });
    if (form.credential === undefined && form.recoveryCode === undefined)
      throw validationError([{ path: ['recoveryCode'], code: 'required' }]);
    const pending = await tryPendingSignIn(options.database, form.token);
    try {
      return form.credential
        ? await finishWithPasskey(options, request, reply, pending, form.credential)
        : await finishWithCode(options, request, reply, pending, form.recoveryCode!);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401)
        await noteFailure(options.database, request, pending, error);
      throw error;
    }
  });
}

async function finishWithPasskey(
  options: Options,
  request: FastifyRequest,
  reply: FastifyReply,
  pending: PendingSignIn,
  credential: Assertion,
) {
  const { database, publicUrl, welcome } = options;
  const { tenantId, personId } = pending;
  const relyingParty = demandRelyingParty(request, publicUrl);
  const ceremony = { purpose: 'SECOND_FACTOR', boundTo: pending.id } as const;
  const used = await verifyAssertion(database, relyingParty, ceremony, personId, credential);
  const token = await begin(database, request, pending, 'password and passkey', async (client) => {
    await endPendingSignIn(client, pending);
    await notePasskeyUse(client, tenantId, used);
  });
  return welcome(request, reply, token);
}

async function finishWithCode(
  { database, welcome }: Options,
  request: FastifyRequest,
  reply: FastifyReply,
  pending: PendingSignIn,
  code: string,
) {
  const { tenantId, personId } = pending;
  let recoveryCodesLeft = 0;
  const token = await begin(
    database,
    request,
    pending,
    'password and recovery code',
    async (client, person) => {
      await endPendingSignIn(client, pending);
      if (!(await redeemRecoveryCode(client, tenantId, personId, code)))
        throw new ApiError('recovery_code_wrong');
      recoveryCodesLeft = await countRecoveryCodes(client, tenantId, personId);
      await recordAudit(client, tenantId, request, {
        event: 'RECOVERY_CODE_USED',
        actor: person,
        subject: person,
        details: { left: recoveryCodesLeft },
      });
    },
  );
  return { ...(await welcome(request, reply, token)), recoveryCodesLeft };
}

/** `check` runs in the transaction that begins the session: what it uses up stays if anything fails. */
async function begin(
  database: Database,
  request: FastifyRequest,
  { tenantId, personId }: { tenantId: string; personId: string },
  method: Method,
  check: (client: pg.ClientBase, person: { id: string; name: string }) => Promise<void>,
): Promise<string> {
  const token = await database.inTenants(
    [tenantId],
    async (client) => {
      const person = await lockPerson(client, tenantId, personId);
      await check(client, person);
      await recordAudit(client, tenantId, request, {
        event: 'SIGNED_IN',
        actor: person,
        subject: person,
        details: { method },
      });
      return beginSession(client, tenantId, personId, request);
    },
    { deadline: request.deadline },
  );
  await endSession(database, readSessionCookie(request));
  return token;
}

async function noteFailure(
  database: Database,
  request: FastifyRequest,
  { tenantId, personId }: PendingSignIn,
  { code }: ApiError,
) {
  await database.inTenants(
    [tenantId],
    async (client) => {
      const person = await lockPerson(client, tenantId, personId);
      await recordAudit(client, tenantId, request, {
        event: 'SIGN_IN_FAILED',
        actor: { id: undefined, name: person.name },
        subject: person,
        details: { reason: code },
      });
    },
    { deadline: request.deadline },
  );
}

/** The answer to a right password of a person with passkeys. Without options only a recovery code helps here. */
export async function askForSecondFactor(
  { database, publicUrl }: Pick<Options, 'database' | 'publicUrl'>,
  request: FastifyRequest,
  { id, token, tenantId, personId }: SecondFactor,
) {
  const relyingParty = findRelyingParty(request, publicUrl);
  const known = await database.inTenants(
    [tenantId],
    async (client) => ({
      credentials: relyingParty ? await listCredentials(client, tenantId, personId, relyingParty.id) : [],
      recoveryCodesLeft: await countRecoveryCodes(client, tenantId, personId),
    }),
    { deadline: request.deadline },
  );
  const ceremony = { purpose: 'SECOND_FACTOR', boundTo: id } as const;
  return {
    needs: 'SECOND_FACTOR',
    token,
    options:
      relyingParty && known.credentials.length > 0
        ? await offerAssertion(database, relyingParty, ceremony, known.credentials)
        : null,
    hasRecoveryCodes: known.recoveryCodesLeft > 0,
  };
}

async function lockPerson(client: pg.ClientBase, tenantId: string, id: string) {
  const { rows } = await client.query<{ id: string; name: string }>(
    'SELECT id, name FROM person WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
    [tenantId, id],
  );
  if (!rows[0]) throw new ApiError('passkey_refused');
  return rows[0];
}
