// LOG_LEVEL=debug: each statement with its time and rows, never with parameter values.
import type pg from 'pg';

export interface StatementLog {
  debug(line: object, message: string): void;
}

const maxTextLength = 2000;

/** Replaces `query` on this one connection: others pay nothing for it. */
export function logStatements(client: pg.ClientBase, log: StatementLog): void {
  const query = client.query.bind(client) as (...parameters: unknown[]) => Promise<pg.QueryResult>;
  const loggedQuery = (...parameters: unknown[]) => {
    const startedAt = performance.now();
    const tell = (error: unknown, result?: pg.QueryResult) =>
      log.debug(
        {
          statement: nameOf(parameters[0] as string | pg.QueryConfig),
          durationMs: Math.round((performance.now() - startedAt) * 100) / 100,
          rows: rowsOf(result),
          code: (error as { code?: string } | null | undefined)?.code,
        },
        error ? 'statement failed' : 'statement',
      );
    const last = parameters.at(-1);
    if (typeof last !== 'function') {
      const answer = query(...parameters);
      answer.then((result) => tell(undefined, result), tell);
      return answer;
    }
    // The pool passes a callback.
    return query(...parameters.slice(0, -1), (error: unknown, result?: pg.QueryResult) => {
      tell(error, result);
      last(error, result);
    });
  };
  client.query = loggedQuery as typeof client.query;
}

function nameOf(query: string | pg.QueryConfig): string {
  const { name, text } = typeof query === 'string' ? { name: undefined, text: query } : query;
  return name ?? text.replaceAll(/\s+/g, ' ').trim().slice(0, maxTextLength);
}

/** Several statements in one text have a result each. */
function rowsOf(result: pg.QueryResult | pg.QueryResult[] | undefined): number | undefined {
  return [result].flat().at(-1)?.rowCount ?? undefined;
}
