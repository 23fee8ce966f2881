import type { JsonObject, JsonValue } from "../../../../core/json.ts";

/** The limit in characters, the same as for other tools' results. */
const mostCharacters = 1024 * 1024;
const deepest = 64;

/**
 * Copies the result of a plugin's tool. Throws an `Error` that names a part which JSON can't represent, and one for a
 * result that is nested too deeply or larger than 1 MiB. Takes no longer than for a result of that size.
 */
export function jsonResult(value: unknown): JsonValue {
  return new Copy().of(value);
}

class Copy {
  #characters = 0;
  /** The field names and indexes that lead to the current value. */
  readonly #path: (string | number)[] = [];

  of(value: unknown): JsonValue {
    if (typeof value === "string") return this.#counted(value, value.length + 2);
    if (value === null || typeof value === "boolean") return this.#counted(value, 4);
    if (typeof value === "number" && Number.isFinite(value)) return this.#counted(value, String(value).length + 1);
    if (typeof value !== "object") throw notJson(this.#path, typeof value === "number" ? String(value) : typeof value);
    // A cyclic value counts as infinitely deep.
    if (this.#path.length === deepest) throw new Error("The tool's result is nested too deeply, or holds itself");
    this.#counted(null, 2);
    if (Array.isArray(value)) return Array.from(value, (item, index) => this.#at(index, item));
    if (!isPlain(value)) throw notJson(this.#path, "an object of a class");
    return this.#members(value);
  }

  #members(value: object): JsonObject {
    // Like `JSON.stringify`, so that a tool may return `{ next: undefined }`.
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return Object.fromEntries(
      members.map(([key, member]) => [this.#counted(key, key.length + 4), this.#at(key, member)]),
    );
  }

  #at(name: string | number, value: unknown): JsonValue {
    this.#path.push(name);
    const copy = this.of(value);
    this.#path.pop();
    return copy;
  }

  #counted<Value>(value: Value, characters: number): Value {
    this.#characters += characters;
    if (this.#characters > mostCharacters)
      throw new Error("The tool's result is larger than 1 MiB: ask for less of it");
    return value;
  }
}

/** Whether an object is a plain object literal, from any realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function notJson(path: readonly (string | number)[], kind: string): Error {
  const place = path.length === 0 ? "The tool's result" : `${path.join(".")} in the tool's result`;
  return new Error(`${place} is no JSON value but ${kind}: that is a defect of the plugin`);
}
