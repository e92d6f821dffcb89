// A real SMTP server for tests, which keeps what it receives.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { until } from '../../helpers/waiting.ts';

export interface Received {
  to: string[];
  /** Header lines and body as they came. */
  raw: string;
  subject: string;
  body: string;
}

export async function startMailServer() {
  const received: Received[] = [];
  /** Statuses for the next messages, instead of accepting them. */
  const refusals: number[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    async onData(stream, session, done) {
      const raw = await text(stream);
      const status = refusals.shift();
      if (status) return done(Object.assign(new Error('not now'), { responseCode: status }));
      received.push({ to: session.envelope.rcptTo.map(({ address }) => address), raw, ...decode(raw) });
      done();
    },
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  after(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as AddressInfo;

  /** Waits for a mail to this address. */
  async function mailTo(address: string, isWanted = (_mail: Received) => true): Promise<Received> {
    const find = () => received.find((mail) => mail.to.includes(address) && isWanted(mail));
    await until(`mail to ${address}`, () => find() !== undefined);
    return find()!;
  }
  return { url: `smtp://127.0.0.1:${port}`, received, refusals, mailTo };
}

function decode(raw: string): { subject: string; body: string } {
  const [head = '', ...rest] = raw.replaceAll('\r\n', '\n').split('\n\n');
  const unfolded = head.replaceAll(/\n[ \t]+/g, ' ');
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(unfolded)?.[1] ?? '';
  const encoded = rest.join('\n\n');
  const encoding = header('Content-Transfer-Encoding');
  const body =
    encoding === 'base64'
      ? Buffer.from(encoded, 'base64').toString()
      : encoding === 'quoted-printable'
        ? decodeQuoted(encoded.replaceAll('=\n', ''))
        : encoded;
  const subject = header('Subject')
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([QB])\?(.*?)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(word, 'base64').toString()
        : decodeQuoted(word.replaceAll('_', ' ')),
    );
  return { subject, body };
}

function decodeQuoted(text: string): string {
  const bytes = text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}
