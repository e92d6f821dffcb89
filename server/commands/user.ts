import type pg from 'pg';
import { recordCommand } from '../auth/audit-log.ts';
import { removeAllPasskeys } from '../auth/passkeys.ts';
import { hashPassword } from '../auth/passwords.ts';
import { addPerson, hashEmail, type Role, roles, setPassword } from '../auth/people.ts';
import { formatChecks } from '../crud/formats.ts';
import { beginFor } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { type Command, tenantIdFrom, UsageError, withOwner } from './command.ts';
import { generateFlag, readNewPassword } from './password-input.ts';

const passwordHint = 'The password is typed, or read from the first line of the input.';

export const userCreate: Command = {
  name: 'user create',
  summary: `Make a person who can sign in to the web app. ${passwordHint}`,
  options: {
    tenant: 'Id of the tenant, as "tenant list" shows it.',
    email: 'Address to sign in with; one person has it, over all tenants.',
    name: 'Name of the person.',
  },
  optionalOptions: {
    role: '"verwaltung" (everything, the key included; the default) or "pflege" (reads master data).',
  },
  flags: generateFlag,
  async run({ config, options, flags }) {
    const tenantId = tenantIdFrom(options);
    const [email, name] = [options.email!.trim(), options.name!.trim()];
    const role = roleFrom(options.role ?? 'verwaltung');
    if (!formatChecks.email(email)) throw new UsageError(`"${email}" is not an e-mail address.`);
    if (name === '') throw new UsageError('The name of a person must not be empty.');
    const { password, isGenerated } = await readNewPassword(flags);
    const passwordHash = await hashPassword(password);
    const id = await withOwner(config, async (client) => {
      const tenant = await client.query('SELECT FROM tenant WHERE tenant_id = $1', [tenantId]);
      if (tenant.rowCount === 0)
        throw new UsageError(`There is no tenant ${tenantId}. "tenant list" shows all of them.`);
      return inTenant(client, tenantId, async () => {
        const id = await addPerson(client, tenantId, { name, email, role, passwordHash });
        const subject = { id, name: `${name} <${email}>` };
        await recordCommand(client, tenantId, { event: 'PERSON_ADDED', subject, details: { role } });
        return id;
      });
    }).catch(explainTakenEmail);
    const shown = isGenerated && { password };
    return {
      text: [`${name} can sign in with ${email}.`, ...passwordLines(shown)].join('\n'),
      json: { id, email, role, ...shown },
    };
  },
};

export const userPassword: Command = {
  name: 'user password',
  summary: `Give a person a new password; all their sessions end. ${passwordHint}`,
  options: { email: 'Address that the person signs in with.' },
  flags: generateFlag,
  async run({ config, options, flags }) {
    const email = options.email!.trim();
    const { password, isGenerated } = await readNewPassword(flags);
    const passwordHash = await hashPassword(password);
    await withOwner(config, async (client) => {
      const { tenant_id: tenantId, person_id: id } = await findPerson(client, email);
      await inTenant(client, tenantId, async () => {
        await setPassword(client, tenantId, id, passwordHash);
        await recordCommand(client, tenantId, { event: 'PASSWORD_RESET', subject: { id, name: email } });
      });
    });
    const shown = isGenerated && { password };
    return {
      text: [`${email} has a new password. All sessions have ended.`, ...passwordLines(shown)].join('\n'),
      json: { email, ...shown },
    };
  },
};

export const userResetPasskeys: Command = {
  name: 'user reset-passkeys',
  summary: 'Remove the passkeys and recovery codes of a person who lost them; all their sessions end.',
  options: { email: 'Address that the person signs in with.' },
  async run({ config, options }) {
    const email = options.email!.trim();
    const passkeys = await withOwner(config, async (client) => {
      const { tenant_id: tenantId, person_id: id } = await findPerson(client, email);
      return inTenant(client, tenantId, async () => {
        const count = await removeAllPasskeys(client, tenantId, id);
        const subject = { id, name: email };
        await recordCommand(client, tenantId, { event: 'PASSKEY_REMOVED', subject, details: { count } });
        return count;
      });
    });
    return {
      text: `Removed ${passkeys} passkeys of ${email}. The password alone signs in now. All sessions have ended.`,
      json: { email, passkeys },
    };
  },
};

async function findPerson(client: pg.Client, email: string) {
  const { rows } = await client.query<{ tenant_id: string; person_id: string }>(
    'SELECT tenant_id, person_id FROM find_account($1)',
    [hashEmail(email)],
  );
  if (!rows[0]) throw new UsageError(`Nobody signs in with ${email}.`);
  return rows[0];
}

function roleFrom(option: string): Role {
  const role = roles.find((known) => known === option.toUpperCase());
  if (!role) throw new UsageError(`"${option}" is no role. There are "verwaltung" and "pflege".`);
  return role;
}

function passwordLines(shown: false | { password: string }): string[] {
  return shown ? [`Password: ${shown.password}`, 'Pass it on safely now: it cannot be shown again.'] : [];
}

async function inTenant<Result>(
  client: pg.Client,
  tenantId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  await client.query(beginFor([tenantId]));
  const result = await work();
  await client.query('COMMIT');
  return result;
}

function explainTakenEmail(error: unknown): never {
  if (error instanceof ApiError && error.code === 'email_taken')
    throw new UsageError(
      'Somebody already signs in with this address. "user password" gives a new password.',
    );
  throw error;
}
