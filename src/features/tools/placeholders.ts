import type { JsonValue } from "../../turn/types.ts";

/** A text that stands for a value which no model may see. */
export interface Placeholder {
  text: string;
  value: string;
  /** Lower-case hosts that the value may go to; empty: any. */
  hosts: readonly string[];
}

/**
 * Fills in an agent's placeholders, in the arguments of tools that may have the values and nowhere else. They are found
 * as the texts that they are, in one pass: what a value holds is never filled in itself (decisions §6).
 */
export class Placeholders {
  readonly #values: ReadonlyMap<string, Placeholder>;
  readonly #pattern: RegExp | null;

  constructor(list: readonly Placeholder[]) {
    this.#values = new Map(list.map((placeholder) => [placeholder.text, placeholder]));
    // The longest first, where one is the beginning of another.
    const texts = [...this.#values.keys()].sort((a, b) => b.length - a.length).map(escapeForPattern);
    this.#pattern = texts.length === 0 ? null : new RegExp(texts.join("|"), "g");
  }

  /** Fills in the values that may go to `host`, or with null those that may go anywhere; the others stay as they are. */
  fill(text: string, host: string | null): string {
    if (!this.#pattern) return text;
    return text.replaceAll(this.#pattern, (found) => {
      const placeholder = this.#values.get(found);
      if (!placeholder) return found;
      const { value, hosts } = placeholder;
      return hosts.length === 0 || (host !== null && hosts.includes(host)) ? value : found;
    });
  }

  /** The same for every string of a JSON value; names of fields stay as they are. */
  fillJson(value: JsonValue, host: string | null): JsonValue {
    if (typeof value === "string") return this.fill(value, host);
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((item) => this.fillJson(item, host));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.fillJson(item, host)]));
  }
}

const escapeForPattern = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
