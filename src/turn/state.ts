import type { JsonObject, JsonValue } from "../core/json.ts";
import { storable } from "../core/text/text.ts";

/** The limit of a conversation's state in bytes, as JSON in UTF-8 (decisions §5). */
export const stateLimit = 64 * 1024;

/** Stored, and out of reach of tools, hooks and prompts: only a context mapping writes it. */
export const privateKey = "_private";

/** The keys that a turn changed. Others may have changed the remaining keys meanwhile. */
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

  /** Null removes the key. Throws an `Error` that tells a model what is wrong. */
  set(name: string, value: JsonValue): void {
    // As it will be stored: one with a NUL in it must not become another key by that.
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

/** The database keeps all digits of a number, which a power of ten stands for here. */
function bytesOf(values: ReadonlyMap<string, JsonValue>): number {
  let zeros = 0;
  const json = JSON.stringify(Object.fromEntries(values), (_key, value: JsonValue) => {
    if (typeof value === "number") zeros += Math.abs(Number(/e(.+)$/.exec(String(value))?.[1] ?? 0));
    return value;
  });
  return utf8.encode(json).byteLength + zeros;
}
