// Showing the password or a passkey again, for routes that need a recent proof.
import type { FastifyInstance } from 'fastify';
import { attemptLimits, countAttempt, hashSubject } from '../../access/attempts.ts';
import { optional, readForm } from '../../access/form.ts';
import { sessionOf } from '../../access/office-access.ts';
import { renewProof } from '../../access/recent-proof.ts';
import type { Database } from '../../database/database.ts';
import { ApiError, validationError } from '../../errors.ts';
import { assertion } from './credential-input.ts';
import { countChallenge } from './passkey-routes.ts';
import { listCredentials, notePasskeyUse } from './passkeys.ts';
import { typedPassword } from './password-fields.ts';
import { verifyPassword } from './passwords.ts';
import { demandRelyingParty, offerAssertion, verifyAssertion } from './webauthn.ts';

const config = { allowsMissingPasskey: true } as const;

interface Options {
  database: Database;
  publicUrl: string | undefined;
}

export async function proofRoutes(app: FastifyInstance, { database, publicUrl }: Options): Promise<void> {
  app.post('/proof/options', { config: { ...config, takesNoBody: true } }, async (request, reply) => {
    const { tenantId, person, id: sessionId } = sessionOf(request);
    const relyingParty = demandRelyingParty(request, publicUrl);
    await countChallenge(database, reply, person.id);
    const known = await database.inTenants(
      [tenantId],
      (client) => listCredentials(client, tenantId, person.id, relyingParty.id),
      {
        deadline: request.deadline,
      },
    );
    if (known.length === 0) throw new ApiError('passkey_missing');
    return offerAssertion(database, relyingParty, { purpose: 'PROOF', boundTo: sessionId }, known);
  });

  app.post('/proof', { config }, async (request, reply) => {
    const session = sessionOf(request);
    const { tenantId, person } = session;
    const form = readForm(request, { password: optional(typedPassword), credential: optional(assertion) });
    if (form.credential !== undefined) {
      const relyingParty = demandRelyingParty(request, publicUrl);
      const ceremony = { purpose: 'PROOF', boundTo: session.id } as const;
      const used = await verifyAssertion(database, relyingParty, ceremony, person.id, form.credential);
      await inBusiness(async (client) => {
        await notePasskeyUse(client, tenantId, used);
        await renewProof(client, session);
      });
    } else if (form.password !== undefined) {
      // The same count as for changing the password: an open browser is no place to guess.
      const subject = hashSubject('password', person.id);
      await countAttempt(database, reply, subject, attemptLimits.account);
      if (!(await isOwnPassword(form.password)))
        throw validationError([{ path: ['password'], code: 'wrong_password' }]);
      await inBusiness((client) => renewProof(client, session));
      await database.pool.query('SELECT forgive_sign_in($1, $1)', [subject]);
    } else throw validationError([{ path: ['password'], code: 'required' }]);
    reply.code(204);

    async function isOwnPassword(password: string): Promise<boolean> {
      const { rows } = await inBusiness((client) =>
        client.query<{ password_hash: string }>(
          'SELECT password_hash FROM person WHERE tenant_id = $1 AND id = $2',
          [tenantId, person.id],
        ),
      );
      return rows[0] !== undefined && verifyPassword(password, rows[0].password_hash);
    }

    function inBusiness<Result>(work: Parameters<typeof database.inTenants<Result>>[1]): Promise<Result> {
      return database.inTenants([tenantId], work, { deadline: request.deadline });
    }
  });
}
