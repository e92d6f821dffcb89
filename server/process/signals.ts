// How the process is asked to end: SIGTERM with time to drain, Ctrl-C without, and a second signal immediately.

/** How long a stop may take after the drain before the process ends anyway. */
const stopTimeoutMs = 20_000;

/** The same after a second signal. */
const urgentTimeoutMs = 5000;

/** At Ctrl-C one signal comes from the terminal and another from npm: so soon a second one is an echo. */
export const echoMs = 1000;

type Reason = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export interface Stop {
  /** Resolves with the first signal. */
  asked: Promise<Reason>;
  /** Aborted with the first signal. */
  signal: AbortSignal;
  /** Aborted with a second one, from somebody who does not want to wait. */
  urgent: AbortSignal;
}

/** Listens from the first moment on: a stop during the start must leave no PostgreSQL behind. */
export function watchSignals(drainMs: number, onHangUp: () => void): Stop {
  const stopping = new AbortController();
  const urgent = new AbortController();
  const asked = Promise.withResolvers<Reason>();
  let askedAt = 0;

  function stop(reason: Reason): void {
    if (!stopping.signal.aborted) {
      askedAt = performance.now();
      stopping.abort();
      endAfter(drainMs + stopTimeoutMs);
      asked.resolve(reason);
    } else if (performance.now() - askedAt > echoMs && !urgent.signal.aborted) {
      urgent.abort();
      endAfter(urgentTimeoutMs);
    }
  }
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('SIGTERM', () => stop('SIGTERM'));
  // A terminal that is closed sends it too.
  process.on('SIGHUP', () => (process.stdin.isTTY ? stop('SIGHUP') : onHangUp()));
  return { asked: asked.promise, signal: stopping.signal, urgent: urgent.signal };
}

function endAfter(timeoutMs: number): void {
  setTimeout(() => process.exit(1), timeoutMs).unref();
}
