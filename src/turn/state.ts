import type { JsonObject, JsonValue } from "../core/json.ts";
import { storable } from "../core/text/text.ts";

/** The limit of a conversation's state in bytes, as JSON in UTF-8 (decisions §5). */
export const stateLimit = 64 * 1024;

/** The key that only a context mapping writes: tools, hooks and prompts can't reach it. */
export const privateKey = "_private";

/** The keys that a turn changed; other keys may have been changed by other writers meanwhile. */
export interface StateChanges {
  set: JsonObject;
  removed: string[];
}

/** The state of a conversation while a turn runs; tools and hooks change it. */
export class TurnState {
  readonly #values: Map<string, JsonValue>;
  readonly #changed = new Set<string>();

  constructor(stored: JsonObject = {}) {
    this.#values = new Map(Object.entries(stored));
  }

  get(name: string): JsonValue | undefined {
    const key = storable(name);
    return key === privateKey ? undefined : this.#values.get(key);
  }

  /** Sets a key; null removes it. Throws an `Error` that tells the model the mistake. */
  set(name: string, value: JsonValue): void {
    // Compares the name as it will be stored: a NUL in it must not turn it into another key.
    const key = storable(name);
    if (key === privateKey) throw new Error(`The key ${privateKey} is reserved`);
    const before = this.#values.get(key);
    if (value === null) this.#values.delete(key);
    else this.#values.set(key, value);
    if (value !== null && bytesOf(this.#values) > stateLimit) {
      if (before === undefined) this.#values.delete(key);
      else this.#values.set(key, before);
      throw new Error(`The state would be larger than ${stateLimit} bytes: store less, or remove keys by setting null`);
    }
    this.#changed.add(key);
  }

  /** The state without `_private`. */
  visible(): JsonObject {
    return Object.fromEntries([...this.#values].filter(([key]) => key !== privateKey));
  }

  changes(): StateChanges | null {
    if (this.#changed.size === 0) return null;
    const set = [...this.#values].filter(([key]) => this.#changed.has(key));
    return { set: Object.fromEntries(set), removed: [...this.#changed].filter((key) => !this.#values.has(key)) };
  }
}

const utf8 = new TextEncoder();

/**
 * The size of values in bytes as JSON. The database stores numbers with all digits, so a power of ten counts with all
 * its digits.
 */
function bytesOf(values: ReadonlyMap<string, JsonValue>): number {
  let zeros = 0;
  const json = JSON.stringify(Object.fromEntries(values), (_key, value: JsonValue) => {
    if (typeof value === "number") zeros += Math.abs(Number(/e(.+)$/.exec(String(value))?.[1] ?? 0));
    return value;
  });
  return utf8.encode(json).byteLength + zeros;
}
