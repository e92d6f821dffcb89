// The piece of work that is under way: a request or a batch. It collects where its time goes.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from '@opentelemetry/api';

export class Work {
  /** Waiting for other items of a batch, or for the batch before. */
  batchWaitMs = 0;
  connectionWaitMs = 0;
  /** With a connection in hand. Statements at the same time count each. */
  databaseMs = 0;
  /** Undefined without traces. */
  span: Span | undefined;

  add({ batchWaitMs, connectionWaitMs, databaseMs }: Work): void {
    this.batchWaitMs += batchWaitMs;
    this.connectionWaitMs += connectionWaitMs;
    this.databaseMs += databaseMs;
  }
}

export const currentWork = new AsyncLocalStorage<Work | undefined>();
