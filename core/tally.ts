/** Counts by name. A name that counts nothing takes no memory. */
export class Tally {
  readonly #counts = new Map<string, number>();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Returns the count with the new one. */
  add(name: string): number {
    const count = this.of(name) + 1;
    this.#counts.set(name, count);
    return count;
  }

  remove(name: string): void {
    const rest = this.of(name) - 1;
    if (rest > 0) this.#counts.set(name, rest);
    else this.#counts.delete(name);
  }
}
