// Remembers where pages ran out of time with nothing found. A retry continues there, so a list of any size has an end.

const keptMs = 60_000;
const maxTenants = 1000;
const maxPerTenant = 20;

interface Kept<Place> {
  place: Place;
  until: number;
}

/** The places kept least recently go first. A tenant displaces only its own, unless very many tenants have some. */
export class InterruptedPages<Place> {
  readonly #tenants = new Map<string, Map<string, Kept<Place>>>();

  find(tenantId: string, key: string): Place | undefined {
    const kept = this.#tenants.get(tenantId)?.get(key);
    return kept && kept.until > performance.now() ? kept.place : undefined;
  }

  keep(tenantId: string, key: string, place: Place): void {
    const own = this.#tenants.get(tenantId) ?? new Map<string, Kept<Place>>();
    setLast(own, key, { place, until: performance.now() + keptMs }, maxPerTenant);
    setLast(this.#tenants, tenantId, own, maxTenants);
  }

  forget(tenantId: string, key: string): void {
    const own = this.#tenants.get(tenantId);
    own?.delete(key);
    if (own?.size === 0) this.#tenants.delete(tenantId);
  }
}

/** A Map keeps the order in which keys were added. */
function setLast<Value>(map: Map<string, Value>, key: string, value: Value, maxSize: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > maxSize) map.delete(map.keys().next().value!);
}
