// Watches each statement of a connection: for LOG_LEVEL=debug and for traces. Neither gets parameter values.
import type pg from 'pg';
import { endSpan, isTracing, startStatementSpan } from '../telemetry/tracing.ts';

export interface StatementLog {
  debug(line: object, message: string): void;
}

type Statement = Pick<pg.QueryConfig, 'name' | 'text'>;
type StatementEnd = (error: unknown, result?: pg.QueryResult) => void;

const maxTextLength = 2000;

/** A connection that nobody watches pays nothing. */
export function watchStatements(client: pg.ClientBase, log: StatementLog | undefined): void {
  if (log) watch(client, (query) => logStatement(nameOf(query), log));
  if (isTracing()) watch(client, traceStatement);
}

function logStatement(statement: string, log: StatementLog): StatementEnd {
  const startedAt = performance.now();
  return (error, result) =>
    log.debug(
      {
        statement,
        durationMs: Math.round((performance.now() - startedAt) * 100) / 100,
        rows: rowsOf(result),
        code: (error as { code?: string } | null | undefined)?.code,
      },
      error ? 'statement failed' : 'statement',
    );
}

/** Keeps only the first word of a text: the rest may name a tenant. */
function traceStatement({ name, text }: Statement): StatementEnd {
  const span = startStatementSpan(name ?? text.trim().split(/\s/, 1)[0]!);
  return (error) => endSpan(span, error ?? undefined);
}

/** Replaces `query` on this one connection. */
function watch(client: pg.ClientBase, begin: (statement: Statement) => StatementEnd): void {
  const query = client.query.bind(client) as (...parameters: unknown[]) => Promise<pg.QueryResult>;
  const watchedQuery = (...parameters: unknown[]) => {
    const [statement] = parameters as [string | Statement];
    // A query that submits itself reports its own end, and is no promise.
    if (typeof statement === 'object' && 'submit' in statement) return query(...parameters);
    const end = begin(typeof statement === 'string' ? { text: statement } : statement);
    const last = parameters.at(-1);
    if (typeof last !== 'function') {
      const answer = query(...parameters);
      answer.then((result) => end(undefined, result), end);
      return answer;
    }
    // The pool passes a callback.
    return query(...parameters.slice(0, -1), (error: unknown, result?: pg.QueryResult) => {
      end(error, result);
      last(error, result);
    });
  };
  client.query = watchedQuery as typeof client.query;
}

function nameOf({ name, text }: Statement): string {
  return name ?? text.replaceAll(/\s+/g, ' ').trim().slice(0, maxTextLength);
}

/** Several statements in one text have a result each. */
function rowsOf(result: pg.QueryResult | pg.QueryResult[] | undefined): number | undefined {
  return [result].flat().at(-1)?.rowCount ?? undefined;
}
