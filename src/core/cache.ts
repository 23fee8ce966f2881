interface Entry<V> {
  value: V;
  loadedAt: number;
}

/** A limited map whose entries expire after `ttlMs`. It never decides a revocation: its readers compare revisions. */
export class TtlCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #ttlMs: number;
  readonly #limit: number;
  readonly #now: () => number;

  constructor({ ttlMs, limit = 10_000, now }: { ttlMs: number; limit?: number; now: () => number }) {
    this.#ttlMs = ttlMs;
    this.#limit = limit;
    this.#now = now;
  }

  get(key: string): Entry<V> | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    const age = this.#now() - entry.loadedAt;
    // An entry from the future was loaded before the clock was set back.
    if (age >= 0 && age < this.#ttlMs) return entry;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: V): Entry<V> {
    // A Map keeps the order of insertion, so its first key is the oldest.
    if (this.#entries.size >= this.#limit) {
      const oldest = this.#entries.keys().next().value;
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    const entry = { value, loadedAt: this.#now() };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  /** The values that have not expired, the oldest first. */
  values(): V[] {
    return [...this.#entries.keys()].flatMap((key) => this.get(key)?.value ?? []);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
