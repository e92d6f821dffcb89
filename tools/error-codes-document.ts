// The guide's page of all codes, from the tables that the service answers with.
import { attentionCodes } from '../core/definition/codes.ts';
import { apiErrorCodes, type ErrorCode, fieldErrorCodes } from '../server/errors.ts';
import { sentenceOf } from '../server/messages.ts';

/** Remedies for codes whose message names none. The others get the remedy of their status. */
const remedies: Partial<Record<ErrorCode, string>> = {
  validation_failed: 'Correct every field in `errors`, then send it again.',
  bad_request: 'Check the HTTP library and any proxy: the request line or a header is broken.',
  request_timeout: 'Send the request again, faster. Check the network.',
  key_missing: 'Send the key in the header `ApiKey`.',
  key_malformed: 'Copy the key again: it is incomplete or has a typo.',
  key_unknown: 'Check the key and the address of the service.',
  key_replaced: 'Use the new key. The office shows which systems still use the old one.',
  key_deleted: 'Ask the office for a new key.',
  not_recognised: 'Compare path and method with the API reference.',
  not_found: 'Check the id. The object may be deleted, or belong to another business.',
  deleted: 'Leave it deleted, or restore it: `POST /{collection}/{id}/restore`.',
  conflict: 'Read the object with `id`, or choose another value for `field`.',
  has_dependants: 'Delete `dependants` first, or send `cascade=true`.',
  merged_object:
    'Use `id`, the record that it was merged into. A former name reads and writes, but never deletes.',
  request_in_progress: 'Wait a second, then repeat it with the same key.',
  version_mismatch: 'Read the object again, apply your change, and send its new `ETag`.',
  content_encoding: 'Compress with a known encoding, or send the body as it is.',
  content_type: 'Set the header `Content-Type`, in UTF-8.',
  body_too_large: 'Send less in one request, or use an import.',
  headers_too_large: 'Send fewer or shorter headers.',
  line_too_long: 'Shorten this line; the rest of the import goes on.',
  idempotency_key_reused: 'Use a new key for each new object.',
  too_many_at_once: 'Send fewer requests in parallel.',
  too_many_failed_authentications: 'Correct the key, then wait `Retry-After` seconds.',
  overloaded:
    'Repeat it after a growing pause. The database is there, but a lock, a connection or time was short.',
  shutting_down: 'Repeat it: another node, or the restarted one, answers.',
  internal_error:
    'Repeat it with the same `Idempotency-Key`. If it persists, send the `requestId` to support.',
  database_unavailable: 'Nothing is stored. Repeat it after a growing pause.',
  outcome_unknown: 'Repeat it with the same `Idempotency-Key`: nothing is stored twice.',
};

const remedyOfStatus: Record<number, string> = {
  400: 'Correct the request.',
  401: 'Check the key.',
  403: 'Check path and method.',
  409: 'Resolve the conflict, then send it again.',
  415: 'Send less.',
  424: 'Send the lines without a stored result again, under the same `Idempotency-Key`.',
  429: 'Wait `Retry-After` seconds, then repeat it.',
  500: 'Repeat it with the same `Idempotency-Key`.',
};

const statusTitles: Record<number, string> = {
  400: 'Invalid data',
  401: 'Authentication failed',
  403: 'Unknown path or method',
  404: 'Not found',
  409: 'Conflict',
  412: 'Another version',
  413: 'Wrong content type',
  415: 'Too large',
  422: 'Idempotency-Key reused',
  424: 'Import ended early',
  429: 'Too many requests',
  500: 'Failure of the service',
};

type Row = readonly string[];

function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function messagesOf(code: Parameters<typeof sentenceOf>[0]): Row {
  return [sentenceOf(code, 'en'), sentenceOf(code, 'de')];
}

function sectionOf(status: number, codes: readonly ErrorCode[]): string {
  const rows = codes.map((code) => {
    const remedy = remedies[code] ?? remedyOfStatus[status] ?? 'Read the message.';
    return [`\`${code}\``, remedy, ...messagesOf(code)];
  });
  return (
    `### ${status} ${statusTitles[status] ?? ''}`.trimEnd() +
    `\n\n${table(['Code', 'What to do', 'Message', 'German message'], rows)}`
  );
}

export function errorCodesDocument(): string {
  const byStatus = Map.groupBy(apiErrorCodes, ({ status }) => status);
  const sections = [...byStatus].map(([status, codes]) =>
    sectionOf(
      status,
      codes.map(({ code }) => code),
    ),
  );
  return `# Error codes

All codes of the API, with their status, their remedy and their messages in English and German. Codes never change; messages may.
A word in braces, such as \`{max}\`, stands for a value that \`params\` also has. This page is generated from \`server/errors.ts\` and \`server/messages.ts\`.

## Codes of an answer

These are in \`code\` of the body. [Errors](errors.md) describes the body, and [Retries](retries.md) tells what to repeat.

${sections.join('\n\n')}

## Codes of a field

These are in \`errors[].code\` of a 400 \`validation_failed\`. The message names the remedy.

${table(
  ['Code', 'Message', 'German message'],
  fieldErrorCodes.map((code) => [`\`${code}\``, ...messagesOf(code)]),
)}

## Codes of the attention list

\`GET /attention\` and dry runs use these for stored data that looks wrong. They are no errors.

${table(
  ['Code', 'Message', 'German message'],
  attentionCodes.map((code) => [`\`${code}\``, ...messagesOf(code)]),
)}
`;
}
