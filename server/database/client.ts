// The driver's connection, with a `query` that makes short-lived garbage only. V8 puts a function that is written as
// `query.callback = (error, result) => …`, which is how the driver does it, among the objects that live long, and all that
// it can reach follows it there: each statement with its parameters and rows. Decision 22 has the figures.
import pg from 'pg';

/** What is not a request waits longer for PostgreSQL, and is told in the end that it does not answer. */
export const patienceMs = 10_000;

/** Long enough for any statement of ours; a database that is silent for longer is taken for dead. */
export const longStatementMs = 30_000;

/** How long a statement may take until the connection is given up. */
export interface Timed {
  timeoutMs: number;
}

/** A statement that may take longer, or less long, than others of its connection. */
export type TimedQuery = pg.QueryConfig & Partial<Timed>;

type Callback = (error: Error | undefined, result?: pg.QueryResult) => void;

export class Client extends pg.Client {
  readonly #timeoutMs: number;

  constructor(config: pg.ClientConfig & Timed) {
    super(config);
    this.#timeoutMs = config.timeoutMs;
  }

  /** With a promise, as we call it, or with a callback, as the pool does. */
  // biome-ignore lint/suspicious/noExplicitAny: the driver's types tell a dozen ways apart, and nothing else suits each of them.
  override query(query: any, values?: any, callback?: any): any {
    if (callback) {
      this.#submit(query, values, callback);
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>();
    this.#submit(query, values, (error, result) => (error ? reject(error) : resolve(result!)));
    return promise;
  }

  #submit(query: string | TimedQuery, values: unknown[] | undefined, callback: Callback): void {
    const { timeoutMs = this.#timeoutMs } = typeof query === 'string' ? {} : query;
    const timer = setTimeout(() => {
      callback(new Error('Query read timeout'));
      // What was sent cannot be taken back, and the next one would get its answer.
      cut(this);
    }, timeoutMs);
    // After a timeout it is told a second time, by the cut. Promises and the pool listen to the first.
    const answer: Callback = (error, result) => {
      clearTimeout(timer);
      callback(error, result);
    };
    super.query(new pg.Query(query, values, answer));
  }
}

/** Ends a connection whatever it is doing; its queries fail. The types of the pool do not know that it hands out whole clients. */
export function cut(client: pg.ClientBase): void {
  (client as pg.Client).connection.stream.destroy();
}
