// Mail that leaves after the answer. Requests never wait for an SMTP server, and never fail because of one.
//
// Waiting mail lives in the process: a crash or a stop loses it. Links can be made again, and notices repeat what the
// audit record has anyway.
import type { FastifyBaseLogger } from 'fastify';
import type { Transporter } from 'nodemailer';
import { Tally } from '../../core/tally.ts';
import type { Config } from '../config.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** An entry for calendar programs. */
  icalEvent?: { method: 'PUBLISH'; filename: string; content: string };
}

/** Prepares mail after the answer was sent. */
export type MailJob = () => Promise<readonly Mail[]>;

export interface Mailer {
  /** `owner` shares the queue out: the id of a business, or a word. */
  send(owner: string, job: MailJob): void;
  close(): Promise<void>;
}

const mostWaiting = { inAll: 1000, ofOwner: 100 };
const concurrency = 2;
const retryAfterMs = [1000, 10_000, 60_000, 600_000];
const closeTimeoutMs = 3000;

export async function openMailer(
  { SMTP_URL, MAIL_FROM }: Pick<Config, 'SMTP_URL' | 'MAIL_FROM'>,
  log: FastifyBaseLogger,
): Promise<Mailer | undefined> {
  if (SMTP_URL === undefined) return undefined;
  const { createTransport } = await import('nodemailer');
  const transport = createTransport(SMTP_URL, { from: MAIL_FROM });
  return new QueuedMailer(transport, log);
}

interface Entry {
  owner: string;
  job: MailJob;
}

class QueuedMailer implements Mailer {
  readonly #transport: Transporter;
  readonly #log: FastifyBaseLogger;
  readonly #queue: Entry[] = [];
  readonly #waitingOf = new Tally();
  readonly #retries = new Set<NodeJS.Timeout>();
  readonly #running = new Set<Promise<void>>();
  #waiting = 0;
  #isClosed = false;

  constructor(transport: Transporter, log: FastifyBaseLogger) {
    this.#transport = transport;
    this.#log = log;
  }

  send(owner: string, job: MailJob): void {
    const isFull = this.#waiting >= mostWaiting.inAll || this.#waitingOf.of(owner) >= mostWaiting.ofOwner;
    if (this.#isClosed || isFull) {
      this.#log.warn({ tenantId: owner }, 'mail dropped: too many wait');
      return;
    }
    this.#waiting++;
    this.#waitingOf.add(owner);
    this.#queue.push({ owner, job });
    setImmediate(() => this.#start());
  }

  #start(): void {
    if (this.#isClosed || this.#running.size >= concurrency) return;
    const entry = this.#queue.shift();
    if (!entry) return;
    const run = this.#run(entry).finally(() => {
      this.#running.delete(run);
      this.#start();
    });
    this.#running.add(run);
  }

  async #run({ owner, job }: Entry): Promise<void> {
    try {
      for (const mail of await job()) await this.#deliver(owner, mail, 0);
    } catch (error) {
      this.#log.warn({ tenantId: owner, err: error }, 'mail not prepared');
    }
    this.#leave(owner);
  }

  async #deliver(owner: string, mail: Mail, attempt: number): Promise<void> {
    if (!isMailable(mail.to)) {
      this.#log.warn({ tenantId: owner }, 'mail not sent: no address for mail');
      return;
    }
    try {
      await this.#transport.sendMail({
        ...mail,
        to: { name: '', address: mail.to },
        disableFileAccess: true,
        disableUrlAccess: true,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    } catch (error) {
      // The server's own words may quote the address: its codes say enough.
      const { code, responseCode } = error as { code?: string; responseCode?: number };
      const waitMs = retryAfterMs[attempt];
      const isFinal = waitMs === undefined || (responseCode !== undefined && responseCode >= 500);
      this.#log.warn(
        { tenantId: owner, code, responseCode, attempt: attempt + 1 },
        isFinal ? 'mail not sent' : 'mail not sent, will be tried again',
      );
      if (!isFinal && !this.#isClosed) this.#retryLater(owner, mail, attempt + 1, waitMs);
    }
  }

  #retryLater(owner: string, mail: Mail, attempt: number, waitMs: number): void {
    this.#waiting++;
    this.#waitingOf.add(owner);
    const timer = setTimeout(() => {
      this.#retries.delete(timer);
      void this.#deliver(owner, mail, attempt).finally(() => this.#leave(owner));
    }, waitMs).unref();
    this.#retries.add(timer);
  }

  #leave(owner: string): void {
    this.#waiting--;
    this.#waitingOf.remove(owner);
  }

  /** Finishes mail that is being sent; the rest is lost, and the log says how many. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const lost = this.#queue.length + this.#retries.size;
    for (const timer of this.#retries) clearTimeout(timer);
    if (lost > 0) this.#log.warn({ lost }, 'mail lost by the stop');
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, closeTimeoutMs).unref());
    await Promise.race([Promise.all(this.#running), timeout]);
    this.#transport.close();
  }
}

/** One address and nothing else: no list, no name, no line break. */
function isMailable(address: string): boolean {
  return /^[^\s<>()[\]\\,;:"@]+@[^\s<>()[\]\\,;:"@]+$/.test(address);
}
