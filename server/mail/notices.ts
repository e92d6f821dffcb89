// Mail to people of a business about what happened to their account. Without SMTP_URL all of it does nothing.
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { Language } from '../messages.ts';
import { type Mail, type Mailer, openMailer } from './mailer.ts';
import { type NoticeKind, type NoticeValues, writeNotice } from './notice-texts.ts';

export interface Recipient {
  email: string;
  language: Language | null;
}

/** Close it before the database. */
export async function openNotices(
  config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM'>,
  database: Database,
  log: FastifyBaseLogger,
): Promise<Notices> {
  return new Notices(await openMailer(config, log), database);
}

export class Notices {
  readonly #mailer: Mailer | undefined;
  readonly #database: Database;

  constructor(mailer: Mailer | undefined, database: Database) {
    this.#mailer = mailer;
    this.#database = database;
  }

  get hasMail(): boolean {
    return this.#mailer !== undefined;
  }

  async close(): Promise<void> {
    await this.#mailer?.close();
  }

  toPerson(tenantId: string, personId: string, kind: NoticeKind, values: NoticeValues = {}): void {
    this.#send(tenantId, kind, values, () => this.#readPeople(tenantId, 'id = $2', personId));
  }

  toAdministrators(tenantId: string, kind: NoticeKind, values: NoticeValues = {}): void {
    this.#send(tenantId, kind, values, () => this.#readPeople(tenantId, 'role = $2', 'VERWALTUNG'));
  }

  /** Mail to addresses that no person has any more. */
  toAddress(tenantId: string, recipient: Recipient, kind: NoticeKind, values: NoticeValues = {}): void {
    this.#send(tenantId, kind, values, async () => [recipient]);
  }

  /** Work that must take no time before the answer, with the mail that comes of it. */
  later(owner: string, job: () => Promise<readonly Mail[]>): void {
    this.#mailer?.send(owner, job);
  }

  #send(
    tenantId: string,
    kind: NoticeKind,
    values: NoticeValues,
    recipients: () => Promise<Recipient[]>,
  ): void {
    this.#mailer?.send(tenantId, async () => {
      const { rows } = await this.#database.queryInTenants<{ name: string }>([tenantId], {
        text: 'SELECT name FROM tenant WHERE tenant_id = $1',
        values: [tenantId],
      });
      const all = { business: rows[0]?.name ?? '', ...values };
      return (await recipients()).map(({ email, language }) => ({
        to: email,
        ...writeNotice(kind, language, all),
      }));
    });
  }

  async #readPeople(tenantId: string, condition: string, value: string): Promise<Recipient[]> {
    const { rows } = await this.#database.queryInTenants<Recipient>([tenantId], {
      text: `SELECT email, language FROM person WHERE tenant_id = $1 AND ${condition}`,
      values: [tenantId, value],
    });
    return rows;
  }
}
