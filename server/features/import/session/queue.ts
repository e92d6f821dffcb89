// Who may import now: one import per tenant, a few per process, and a short queue for the rest.
import { ApiError } from '../../../errors.ts';
import type { ImportLimits } from './limits.ts';

export interface Place {
  /** Lines that the client has sent so far. */
  lines: number;
  /** Called when another tenant needs the place. */
  giveWay: () => void;
  leave(): void;
}

interface TakenPlace extends Place {
  tenantId: string;
  takenAt: number;
  isGivingWay: boolean;
}

interface Waiting {
  tenantId: string;
  since: number;
  admit(place: Place): void;
}

export type EnterQueue = (tenantId: string, signal?: AbortSignal) => Promise<Place>;

const fewestLinesPerSecond = 10;
const checkIntervalMs = 250;

/** Waits for a place, at most for `waitMs`. Rejects with `too_many_imports`, and with the reason of the signal. */
export function buildQueue(limits: ImportLimits): EnterQueue {
  const places = new Map<string, TakenPlace>();
  const waiting = new Set<Waiting>();
  /** The tenants that have a place or had one while others waited, the latest at the end. */
  const served = new Set<string>();
  let checking: NodeJS.Timeout | undefined;

  function takePlace(tenantId: string): Place {
    const place: TakenPlace = {
      tenantId,
      takenAt: performance.now(),
      isGivingWay: false,
      lines: 0,
      giveWay: () => {},
      leave() {
        if (places.get(tenantId) === place) places.delete(tenantId);
        admitNext();
      },
    };
    places.set(tenantId, place);
    served.delete(tenantId);
    served.add(tenantId);
    return place;
  }

  /** The first of each tenant without a place; tenants without a recent one come first, the others in turn. */
  function candidates(): Waiting[] {
    const firsts = new Map<string, Waiting>();
    for (const one of waiting) {
      if (!places.has(one.tenantId) && !firsts.has(one.tenantId)) firsts.set(one.tenantId, one);
    }
    const turns = new Map([...served].map((tenantId, turn) => [tenantId, turn]));
    const turnOf = ({ tenantId }: Waiting) => turns.get(tenantId) ?? -1;
    return [...firsts.values()].sort((one, other) => turnOf(one) - turnOf(other));
  }

  function admitNext(): void {
    for (const next of candidates()) {
      if (places.size >= limits.places) break;
      waiting.delete(next);
      next.admit(takePlace(next.tenantId));
    }
    makeRoom();
    if (waiting.size === 0) {
      for (const tenantId of served) if (!places.has(tenantId)) served.delete(tenantId);
      clearInterval(checking);
      checking = undefined;
    } else checking ??= setInterval(makeRoom, checkIntervalMs);
  }

  /** Ends as many imports as tenants wait for a place, the oldest first, where their time is up. */
  function makeRoom(): void {
    const now = performance.now();
    const taken = [...places.values()];
    const leaving = taken.filter(({ isGivingWay }) => isGivingWay).length;
    for (const { since } of candidates().slice(leaving)) {
      const isPatient = now - since >= limits.waitMs / 2;
      const oldest = taken.find(
        (place) =>
          !place.isGivingWay && (isSlow(place, limits, now) || (isPatient && isLong(place, limits, now))),
      );
      if (!oldest) continue;
      oldest.isGivingWay = true;
      oldest.giveWay();
    }
  }

  return function enter(tenantId, signal) {
    return new Promise((resolve, reject) => {
      const waitingOfTenant = [...waiting].filter((one) => one.tenantId === tenantId).length;
      const isFree = !places.has(tenantId) && places.size < limits.places;
      if (!isFree && waitingOfTenant >= limits.waitingPerTenant) throw new ApiError('too_many_imports');
      signal?.throwIfAborted();
      const end = () => {
        waiting.delete(self);
        clearTimeout(timer);
        signal?.removeEventListener('abort', refuse);
      };
      const refuse = () => {
        end();
        reject(signal?.aborted ? signal.reason : new ApiError('too_many_imports'));
        admitNext();
      };
      const timer = setTimeout(refuse, limits.waitMs);
      const self: Waiting = {
        tenantId,
        since: performance.now(),
        admit(place) {
          end();
          resolve(place);
        },
      };
      signal?.addEventListener('abort', refuse);
      waiting.add(self);
      admitNext();
    });
  };
}

function isSlow({ takenAt, lines }: TakenPlace, { slowAfterMs }: ImportLimits, now: number): boolean {
  const ageMs = now - takenAt;
  return ageMs >= slowAfterMs && lines < (ageMs / 1000) * fewestLinesPerSecond;
}

function isLong({ takenAt }: TakenPlace, { longAfterMs }: ImportLimits, now: number): boolean {
  return now - takenAt >= longAfterMs;
}
