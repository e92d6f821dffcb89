import type pg from 'pg';
import { recordCommand } from '../access/audit-log.ts';
import { addPerson, hashEmail, type Role, removePerson, roles, setPassword } from '../access/people.ts';
import { beginFor } from '../database/transactions.ts';
import { formatChecks } from '../engine/definition/formats.ts';
import { ApiError, UsageError } from '../errors.ts';
import { removeAllPasskeys } from '../features/sign-in/passkeys.ts';
import { hashPassword } from '../features/sign-in/passwords.ts';
import { asOperator, type Command, tenantIdFrom } from './command.ts';
import { generateFlag, readNewPassword } from './password-input.ts';

const passwordHint = 'The password is typed, or read from the first line of the input.';

const userCreate: Command = {
  name: 'user create',
  summary: `Create a person who can sign in to the web app. ${passwordHint}`,
  options: {
    tenant: 'Id of the tenant, as "tenant list" shows it.',
    email: 'Address to sign in with; one person of the tenant has it.',
    name: 'Name of the person.',
  },
  optionalOptions: {
    role: '"verwaltung" (everything, the key included; the default), "buero" (all master data) or "pflege" (reads it).',
  },
  flags: generateFlag,
  async run({ config, options, flags }) {
    const tenantId = tenantIdFrom(options);
    const [email, name] = [options.email!.trim(), options.name!.trim()];
    const role = roleFrom(options.role ?? 'verwaltung');
    if (!formatChecks['idn-email'](email)) throw new UsageError(`"${email}" is not an e-mail address.`);
    if (name === '') throw new UsageError('The name of a person must not be empty.');
    const { id, ...shown } = await asOperator(config, async (client) => {
      const { rows } = await client.query<{ name: string }>('SELECT name FROM tenant WHERE tenant_id = $1', [
        tenantId,
      ]);
      if (!rows[0]) throw new UsageError(`There is no tenant ${tenantId}. "tenant list" shows all of them.`);
      const { password, isGenerated } = await readNewPassword(flags, [rows[0].name, name, email]);
      const passwordHash = await hashPassword(password);
      const made = await inTenant(client, tenantId, async () => {
        const personId = await addPerson(client, tenantId, { name, email, role, passwordHash });
        const subject = { id: personId, name: `${name} <${email}>` };
        await recordCommand(client, tenantId, { event: 'PERSON_ADDED', subject, details: { role } });
        return personId;
      });
      return { id: made, ...(isGenerated && { password }) };
    }).catch(explainTakenEmail);
    return {
      text: [`${name} can sign in with ${email}.`, ...passwordLines(shown)].join('\n'),
      json: { id, email, role, ...shown },
    };
  },
};

const tenantOption = { tenant: 'Id of the tenant, if the address signs in to several.' };

const userPassword: Command = {
  name: 'user password',
  summary: `Give a person a new password; all their sessions end. ${passwordHint}`,
  options: { email: 'Address that the person signs in with.' },
  optionalOptions: tenantOption,
  flags: generateFlag,
  async run({ config, options, flags }) {
    const email = options.email!.trim();
    const shown = await asOperator(config, async (client) => {
      const { tenant_id: tenantId, person_id: id, name, business } = await findPerson(client, options);
      const { password, isGenerated } = await readNewPassword(flags, [business, name, email]);
      const passwordHash = await hashPassword(password);
      await inTenant(client, tenantId, async () => {
        await setPassword(client, tenantId, id, passwordHash);
        await recordCommand(client, tenantId, { event: 'PASSWORD_RESET', subject: { id, name: email } });
      });
      return isGenerated ? { password } : {};
    });
    return {
      text: [`${email} has a new password. All sessions have ended.`, ...passwordLines(shown)].join('\n'),
      json: { email, ...shown },
    };
  },
};

const userResetPasskeys: Command = {
  name: 'user reset-passkeys',
  summary: 'Remove the passkeys and recovery codes of a person who lost them; all their sessions end.',
  options: { email: 'Address that the person signs in with.' },
  optionalOptions: tenantOption,
  async run({ config, options }) {
    const email = options.email!.trim();
    const passkeys = await asOperator(config, async (client) => {
      const { tenant_id: tenantId, person_id: id } = await findPerson(client, options);
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

const userRemove: Command = {
  name: 'user remove',
  summary: 'Remove a person, who can no longer sign in. The address becomes free.',
  options: { email: 'Address that the person signs in with.' },
  optionalOptions: tenantOption,
  flags: { yes: 'Do it; without this, only show who would be removed.' },
  async run({ config, options, flags }) {
    const email = options.email!.trim();
    const isRemoved = flags.has('yes');
    const {
      tenant_id: tenantId,
      person_id: id,
      name,
      business,
    } = await asOperator(config, async (client) => {
      const found = await findPerson(client, options);
      if (isRemoved)
        await inTenant(client, found.tenant_id, async () => {
          await removePerson(client, found.tenant_id, found.person_id);
          const subject = { id: found.person_id, name: `${found.name} <${email}>` };
          await recordCommand(client, found.tenant_id, { event: 'PERSON_REMOVED', subject });
        }).catch(explainLastAdministrator);
      return found;
    });
    return {
      text: isRemoved
        ? `${name} of ${business} is removed. ${email} is free.`
        : `This removes ${name} of ${business}, who signs in with ${email}. Add --yes to do it.`,
      json: { id, tenantId, email, name, isRemoved },
      exitCode: isRemoved ? 0 : 1,
    };
  },
};

export const commands: readonly Command[] = [userCreate, userPassword, userResetPasskeys, userRemove];

interface FoundPerson {
  tenant_id: string;
  person_id: string;
  name: string;
  business: string;
}

/** The person whom an address signs in, of the tenant that is named if there are several. */
async function findPerson(client: pg.Client, options: Record<string, string>): Promise<FoundPerson> {
  const email = options.email!.trim();
  const tenantId = options.tenant === undefined ? undefined : tenantIdFrom(options);
  const { rows } = await client.query<FoundPerson>(
    `SELECT found.tenant_id, found.person_id, person.name, tenant.name AS business
     FROM find_account($1) AS found
     JOIN person ON person.tenant_id = found.tenant_id AND person.id = found.person_id
     JOIN tenant ON tenant.tenant_id = found.tenant_id
     WHERE $2::uuid IS NULL OR found.tenant_id = $2 ORDER BY lower(tenant.name), tenant.tenant_id`,
    [hashEmail(email), tenantId],
  );
  if (!rows[0]) throw new UsageError(`Nobody signs in with ${email}${tenantId ? ' there' : ''}.`);
  if (rows.length === 1) return rows[0];
  const list = rows.map(({ tenant_id, business }) => `  --tenant ${tenant_id}  ${business}`).join('\n');
  throw new UsageError(`${email} signs in to several tenants. Name one:\n${list}`);
}

function roleFrom(option: string): Role {
  const role = roles.find((known) => known === option.toUpperCase());
  if (!role) throw new UsageError(`"${option}" is no role. There are "verwaltung", "buero" and "pflege".`);
  return role;
}

function passwordLines(shown: { password?: string }): string[] {
  return shown.password
    ? [`Password: ${shown.password}`, 'Pass it on safely now: it cannot be shown again.']
    : [];
}

async function inTenant<Result>(
  client: pg.Client,
  tenantId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  await client.query(beginFor([tenantId]));
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

function explainTakenEmail(error: unknown): never {
  if (error instanceof ApiError && error.code === 'email_taken')
    throw new UsageError(
      'Somebody of this tenant already signs in with this address. "user password" gives a new password.',
    );
  throw error;
}

function explainLastAdministrator(error: unknown): never {
  if (error instanceof ApiError && error.code === 'last_administrator')
    throw new UsageError(
      'This is the only person with the role "verwaltung" there. Make another one with "user create" first.',
    );
  throw error;
}
