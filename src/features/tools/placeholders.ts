import { admits, type Destination } from "../../core/egress/destination.ts";
import { closing, opening } from "../../core/text/placeholder.ts";
import type { JsonValue } from "../../turn/types.ts";

/** A text that stands for a value hidden from models. */
export interface Placeholder {
  /** The name in double braces, without spaces. */
  text: string;
  value: string;
  /**
   * Lists of destinations, as `host` (https on port 443) or `host:port`. The value may be sent only to destinations
   * that are in every list; without lists, to any.
   */
  bounds: readonly (readonly string[])[];
}

/** The number of characters of values that may still be filled in. */
export interface FillingRoom {
  left: number;
}

/** The limit of one tool call or one prompt: a text may repeat a long value's placeholder thousands of times. */
export const fillingRoom = (): FillingRoom => ({ left: 1024 * 1024 });

interface Filling {
  /** Encodes a value before it is filled in. */
  write?: (value: string) => string;
  /** The limit that related texts share. A placeholder whose value exceeds it stays unfilled. */
  room?: FillingRoom;
}

const asItIs = (value: string) => value;

/**
 * Fills in an agent's placeholders. Use it only for arguments of tools that may get the values. A text is filled in one
 * pass: a placeholder inside a value stays text (decisions §6).
 */
export class Placeholders {
  readonly #values: ReadonlyMap<string, Placeholder>;
  readonly #pattern: RegExp | null;

  constructor(list: readonly Placeholder[]) {
    this.#values = new Map(list.map((placeholder) => [placeholder.text, placeholder]));
    // Longest first: a name may contain braces, so one name may begin with another.
    const names = [...this.#values.keys()].map(nameIn).sort((a, b) => b.length - a.length);
    this.#pattern =
      names.length === 0 ? null : new RegExp(`${opening}(${names.map(escapeForPattern).join("|")})${closing}`, "g");
  }

  /**
   * Fills in the values that may be sent to `to`; with null, those that may be sent anywhere. Other placeholders stay.
   */
  fill(text: string, to: Destination | null, { write = asItIs, room = fillingRoom() }: Filling = {}): string {
    if (!this.#pattern) return text;
    return text.replaceAll(this.#pattern, (found: string, name: string) => {
      const placeholder = this.#values.get(`{{${name}}}`);
      if (!placeholder) return found;
      const { value, bounds } = placeholder;
      const isAdmitted = bounds.every((hosts) => to !== null && hosts.some((entry) => admits(entry, to)));
      if (!isAdmitted || value.length > room.left) return found;
      room.left -= value.length;
      return write(value);
    });
  }

  /** Fills in every string of a JSON value; names of fields stay unchanged. */
  fillJson(value: JsonValue, to: Destination | null, room = fillingRoom()): JsonValue {
    if (typeof value === "string") return this.fill(value, to, { room });
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((item) => this.fillJson(item, to, room));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.fillJson(item, to, room)]));
  }
}

const nameIn = (text: string) => text.slice(2, -2);

const escapeForPattern = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
