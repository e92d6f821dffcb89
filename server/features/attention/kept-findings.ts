// Keeps what was found in each business, and looks again only at the objects that a change can concern. (Decision 127.)
import { Pace } from '../../../core/pace.ts';
import { report } from '../../database/background.ts';
import { isOverloaded } from '../../database/errors.ts';
import {
  type AttentionCheck,
  attentionChecksOf,
  maxMembers,
} from '../../engine/attention/attention-checks.ts';
import { type Definition, looseReferencesOf } from '../../engine/definition/definition.ts';
import { type Pass, passesOf } from './attention-passes.ts';
import {
  businessOf,
  firstPlace,
  leftStamp,
  type Place,
  type Reader,
  readPart,
  scannedRows,
} from './attention-scan.ts';
import { rulesOf } from './attention-verdicts.ts';
import type { Found } from './listed-findings.ts';

/** A longer list is read from the database each time. Ids of duplicates count, too. */
const maxIds = 10_000;
const maxIdsTogether = 100_000;
const maxBusinesses = 1000;
/** Beyond these, all rows are read. */
const maxChanges = 1000;
const maxLeft = 2000;
const partMs = 30_000;
/** A business that imports is not read all the time. */
const restMs = 60_000;

interface Stamp {
  /** Of the journal, and the time of its entry: another time means that the business was restored since. */
  position: number;
  at: string | null;
  left: string;
  /** What findings depend on beside the business's objects and entries. */
  rules: string;
}

interface State {
  stamp: Stamp;
  found: ReadonlyMap<string, Found>;
  /** What is left as it is, by object. */
  left: ReadonlyMap<string, string>;
  ids: number;
}

interface Kept {
  state: State | undefined;
  /** Of the last look that read the database. */
  seen: string;
  readAt: number;
}

export class KeptFindings {
  /** Passes that also find each member of a group: in all rows, and in those with given ids. */
  readonly #allRows: readonly Pass[];
  readonly #namedRows: readonly Pass[];
  /** The checks that these passes stand for. None stands for a member of a group. */
  readonly #meant = new Map<AttentionCheck, AttentionCheck>();
  readonly #referrers: string;
  /** Resources whose every change can concern those that refer to them. */
  readonly #read: ReadonlySet<string>;
  /** The business that was read last is at the end. */
  readonly #kept = new Map<string, Kept>();
  readonly #running = new Map<string, Promise<unknown>>();
  #ids = 0;
  #isStopped = false;

  constructor(definitions: readonly Definition[]) {
    const checks = definitions.flatMap(attentionChecksOf);
    this.#referrers = referrersText(definitions);
    this.#read = new Set(
      definitions.flatMap(({ attentions }) => attentions.flatMap(({ reads = [] }) => reads)),
    );
    this.#allRows = passesOf(checks.flatMap((check) => this.#withMembers(check, 'isMember')));
    this.#namedRows = passesOf(checks.flatMap((check) => this.#withMembers(check, 'isNamedMember')));
  }

  #withMembers(check: AttentionCheck, isMember: 'isMember' | 'isNamedMember'): AttentionCheck[] {
    if (!check.group) return [this.#standIn(check, check)];
    const group = { ...check.group, isFirst: check.group[isMember], others: check.group.allOthers };
    // Nobody leaves this one as it is.
    const member = { ...check, group, field: '' };
    return [member, this.#standIn({ ...check, group }, check)];
  }

  #standIn(check: AttentionCheck, meant: AttentionCheck): AttentionCheck {
    this.#meant.set(check, meant);
    return check;
  }

  /** In the order of ids. Undefined where the caller must read the database. */
  async read(reader: Reader): Promise<readonly Found[] | undefined> {
    const { tenantId } = reader;
    const stamp = await readStamp(reader);
    const kept = this.#kept.get(tenantId);
    const state = kept?.state && (await this.#advance(reader, kept.state, stamp));
    if (!state) {
      this.#readLater(reader, stamp);
      return undefined;
    }
    // Another look may have kept a later state.
    if (this.#kept.get(tenantId) === kept) this.#keep(tenantId, { ...kept!, state });
    return [...state.found.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** A business that is looked at once, or does not change, is not read for this. */
  #readLater(reader: Reader, stamp: Stamp): void {
    const { tenantId } = reader;
    const seen = JSON.stringify(stamp);
    const { seen: before = seen, readAt = -restMs } = this.#kept.get(tenantId) ?? {};
    const isDue = before !== seen && performance.now() - readAt > restMs;
    this.#keep(tenantId, { state: undefined, seen, readAt: isDue ? performance.now() : readAt });
    if (!isDue || this.#isStopped || this.#running.has(tenantId)) return;
    const running = report('attention', () => this.readAll(reader));
    this.#running.set(
      tenantId,
      running.finally(() => this.#running.delete(tenantId)),
    );
  }

  /** Reads all rows of the business, beside the requests. */
  async readAll({ database, tenantId, log }: Pick<Reader, 'database' | 'tenantId' | 'log'>): Promise<void> {
    const reader = { database, tenantId, log, deadline: performance.now() + partMs, pace: new Pace() };
    const business = businessOf(reader);
    const begin = (): Reader => ({ ...reader, business, deadline: performance.now() + partMs });
    const stamp = await readStamp(begin());
    const left = await readLeft(begin());
    const found = left && (await this.#look(begin, this.#allRows));
    if (!found) return;
    const { seen = '', readAt = -restMs } = this.#kept.get(tenantId) ?? {};
    this.#keep(tenantId, { state: { stamp, left, found, ids: countIds(found) }, seen, readAt });
  }

  /** What is found now in all rows, or in those with these ids; undefined if that is too much. */
  async #look(
    begin: () => Reader,
    passes: readonly Pass[],
    ids?: readonly string[],
  ): Promise<Map<string, Found> | undefined> {
    const found = new Map<string, { id: string; open: Set<AttentionCheck>; twins: string[] }>();
    for (let place: Place | undefined = firstPlace; place; ) {
      if (this.#isStopped) return undefined;
      const part = await readPart(begin(), passes, place, scannedRows, scannedRows, ids);
      for (const { check, id, others } of part.findings) {
        const row = found.getOrInsertComputed(id, () => ({ id, open: new Set(), twins: [] }));
        const meant = this.#meant.get(check);
        if (check.group) row.twins = others!;
        // The first member stands for all.
        if (meant && (!check.group || id < others![0]!)) row.open.add(meant);
        if (row.twins.length > maxMembers) return undefined;
      }
      if (countIds(found) > maxIds) return undefined;
      place = part.next;
    }
    return found;
  }

  async #advance(reader: Reader, state: State, stamp: Stamp): Promise<State | undefined> {
    try {
      return await this.#lookAtChanges(reader, state, stamp);
    } catch (error) {
      if (isOverloaded(error)) this.#readLater(reader, stamp);
      throw error;
    }
  }

  /**
   * What an object needs changes with itself, with the entries that are left, with the objects that it refers to and with
   * its duplicates: the former ones are known, and it looks at the new ones next.
   */
  async #lookAtChanges(reader: Reader, state: State, stamp: Stamp): Promise<State | undefined> {
    if (state.stamp.rules !== stamp.rules) return undefined;
    const left = state.stamp.left === stamp.left ? state.left : await readLeft(reader);
    const changed = left && (await this.#changedSince(reader, state.stamp, stamp));
    if (!changed) return undefined;
    for (const id of new Set([...state.left.keys(), ...left.keys()]))
      if (state.left.get(id) !== left.get(id)) changed.add(id);
    let next = [...changed];
    if (next.length === 0) return { ...state, stamp, left };
    const found = new Map(state.found);
    for (const { id, twins } of state.found.values())
      if (changed.has(id) || twins.some((twin) => changed.has(twin))) next.push(id, ...twins);
    const looked = new Set<string>();
    while (next.length > 0) {
      for (const id of next) looked.add(id);
      if (looked.size > maxChanges) return undefined;
      const now = await this.#look(() => reader, this.#namedRows, [...new Set(next)]);
      if (!now) return undefined;
      for (const id of next) found.delete(id);
      for (const [id, row] of now) found.set(id, row);
      next = [...now.values()].flatMap(({ twins }) => twins).filter((id) => !looked.has(id));
    }
    const ids = countIds(found);
    return ids > maxIds ? undefined : { stamp, left, found, ids };
  }

  /** Ids of the objects that were written, and of those that refer to them. */
  async #changedSince({ database, tenantId, deadline }: Reader, from: Stamp, to: Stamp) {
    const entries = to.position - from.position;
    if (entries < 0 || entries > maxChanges) return undefined;
    const changed = new Set<string>();
    if (entries === 0) return from.at === to.at ? changed : undefined;
    const { rows } = await database.queryInTenants<{
      resource: string;
      id: string;
      action: string;
      at: string;
    }>(
      [tenantId],
      {
        text: `SELECT resource, resource_id AS id, action, at::text FROM journal
          WHERE tenant_id = $1 AND position BETWEEN $2 AND $3 ORDER BY position`,
        values: [tenantId, from.position, to.position],
      },
      { deadline },
    );
    const seen = from.position === 0 ? undefined : rows.shift();
    // Who empties a business moves the position without an entry.
    if (rows.length !== entries || seen?.at !== (from.at ?? undefined)) return undefined;
    for (const { id } of rows) changed.add(id);
    const named = rows.filter(({ resource, action }) => action !== 'CHANGED' || this.#read.has(resource));
    if (named.length === 0) return changed;
    const referrers = await database.queryInTenants<{ id: string }>(
      [tenantId],
      { text: this.#referrers, values: [tenantId, [...new Set(named.map(({ id }) => id))]] },
      { deadline },
    );
    for (const { id } of referrers.rows) changed.add(id);
    return changed;
  }

  /** The businesses that were read longest ago go first. */
  #keep(tenantId: string, kept: Kept): void {
    this.#drop(tenantId);
    this.#kept.set(tenantId, kept);
    this.#ids += kept.state?.ids ?? 0;
    while (this.#ids > maxIdsTogether || this.#kept.size > maxBusinesses)
      this.#drop(this.#kept.keys().next().value!);
  }

  #drop(tenantId: string): void {
    this.#ids -= this.#kept.get(tenantId)?.state?.ids ?? 0;
    this.#kept.delete(tenantId);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running.values());
  }
}

function countIds(found: ReadonlyMap<string, Found>): number {
  return found.values().reduce((sum, { twins }) => sum + 1 + twins.length, 0);
}

async function readStamp(reader: Reader): Promise<Stamp> {
  const { database, tenantId, deadline } = reader;
  const business = await businessOf(reader);
  const query = {
    text: `SELECT head.last_position AS position, journal.at::text, current_date::text AS day, ${leftStamp} AS "left"
      FROM journal_head AS head LEFT JOIN journal ON journal.tenant_id = $1 AND journal.position = head.last_position
      WHERE head.tenant_id = $1`,
    values: [tenantId],
  };
  const { rows } = await database.queryInTenants<{
    position: string;
    at: string | null;
    day: string;
    left: string;
  }>([tenantId], query, { deadline });
  const { position, at, day, left } = rows[0]!;
  return { position: Number(position), at, left, rules: `${rulesOf(business)} ${business.today} ${day}` };
}

/** A digest of what is left as it is, by object; undefined if that is too much. */
async function readLeft({ database, tenantId, deadline }: Reader) {
  const query = {
    text: `SELECT object_id AS id, md5(string_agg(concat_ws(' ', resource, field, code, finding), ',' ORDER BY resource, field, code)) AS entries
      FROM left_attention WHERE tenant_id = $1 GROUP BY object_id LIMIT ${maxLeft + 1}`,
    values: [tenantId],
  };
  const { rows } = await database.queryInTenants<{ id: string; entries: string }>([tenantId], query, {
    deadline,
  });
  return rows.length > maxLeft ? undefined : new Map(rows.map(({ id, entries }) => [id, entries]));
}

/** Looks up each name: $2 are ids, which former ids can stand for. */
function referrersText(definitions: readonly Definition[]): string {
  const branches = definitions.flatMap((definition) =>
    looseReferencesOf(definition).map(
      ({
        column,
      }) => `SELECT subject.id FROM named CROSS JOIN LATERAL (SELECT referrer.id FROM ${definition.table} AS referrer
        WHERE referrer.tenant_id = $1 AND referrer.${column.name} = named.id LIMIT ${maxChanges + 1}) AS subject`,
    ),
  );
  return `WITH named AS MATERIALIZED (SELECT unnest($2::uuid[]) AS id
    UNION SELECT former_id FROM former_id WHERE tenant_id = $1 AND id = ANY ($2))
    ${branches.map((branch) => `(${branch})`).join(' UNION ALL ')} LIMIT ${maxChanges + 1}`;
}
