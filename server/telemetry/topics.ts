// Topics on which the service reports its work. A topic without a subscriber costs next to nothing.
import { type Channel, channel } from 'node:diagnostics_channel';

class Topic<Event> {
  readonly #channel: Channel;

  constructor(name: string) {
    this.#channel = channel(`stamm.${name}`);
  }

  publish(event: Event): void {
    if (this.#channel.hasSubscribers) this.#channel.publish(event);
  }

  /** Returns a function that unsubscribes. */
  subscribe(listener: (event: Event) => void): () => void {
    const onMessage = (event: unknown) => listener(event as Event);
    this.#channel.subscribe(onMessage);
    return () => void this.#channel.unsubscribe(onMessage);
  }
}

export interface RequestEnd {
  method: string;
  /** The pattern, never the URL; undefined where no route matches. */
  route: string | undefined;
  status: number;
  /** Set for a rejected or failed request. */
  code: string | undefined;
  seconds: number;
}

export interface BatchEnd {
  kind: string;
  items: number;
  seconds: number;
}

export interface DeliveryEnd {
  isDelivered: boolean;
  /** From the change to the end of this attempt. */
  delaySeconds: number;
}

export const topics = {
  request: new Topic<RequestEnd>('request'),
  batch: new Topic<BatchEnd>('batch'),
  /** Seconds that somebody waited for a connection of the pool. */
  connectionWait: new Topic<{ seconds: number }>('connection-wait'),
  importLines: new Topic<{ lines: number }>('import-lines'),
  /** 1 when an import begins, -1 when it ends. */
  runningImports: new Topic<{ change: 1 | -1 }>('running-imports'),
  delivery: new Topic<DeliveryEnd>('delivery'),
  /** Work that no request waits for has failed. */
  backgroundError: new Topic<{ work: string; error: unknown }>('background-error'),
  /** Work has failed on a record, which is marked. */
  recordError: new Topic<{ work: string }>('record-error'),
  redis: new Topic<{ isUp: boolean }>('redis'),
};
