// Notes whether this browser keeps a round for use without network. The module is small: every start asks.

const name = 'stamm-road';
/** A bit less than the service lets a session idle, and live at most. */
const [idleMs, lifetimeMs] = [35 * 3_600_000, 13.5 * 86_400_000];

export interface Holder {
  personId: string;
  /** The business, or its test business. */
  business: string;
  since: number;
  /** Time of the service's last answer. */
  answeredAt: number;
}

export function readHolder(): Holder | undefined {
  try {
    return JSON.parse(localStorage.getItem(name) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

export function writeHolder(holder: Holder | undefined): void {
  try {
    if (holder) localStorage.setItem(name, JSON.stringify(holder));
    else localStorage.removeItem(name);
  } catch {
    // Without storage nothing is kept.
  }
}

const owedName = 'stamm-sign-out';

/** Without network a phone cannot end its session. It does so as soon as it can, before it shows anything. */
export function owesSignOut(): boolean {
  return localStorage.getItem(owedName) !== null;
}

export function noteOwedSignOut(isOwed: boolean): void {
  if (isOwed) localStorage.setItem(owedName, '1');
  else localStorage.removeItem(owedName);
}

/** Whether a session that has ended was left alone for too long. Otherwise somebody has ended it. */
export function hasRunOut({ since, answeredAt }: Holder, now = Date.now()): boolean {
  return now - answeredAt > idleMs || now - since > lifetimeMs;
}
