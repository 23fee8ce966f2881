import type { JsonValue } from "../../turn/types.ts";

/** A text that stands for a value which no model may see. */
export interface Placeholder {
  text: string;
  value: string;
  /** `host`, by https at its own port, or `host:port`, to which the value may go; empty: anywhere. */
  hosts: readonly string[];
}

/** Where a request goes. */
export interface Destination {
  /** Lower case, without brackets and without the dot at the end of a full name. */
  host: string;
  port: number;
  https: boolean;
}

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** Null for what is no web address. */
export function destinationOf(text: string): Destination | null {
  const url = URL.parse(text);
  const defaultPort = defaultPorts[url?.protocol ?? ""];
  if (!url || defaultPort === undefined) return null;
  const port = url.port === "" ? defaultPort : Number(url.port);
  return { host: bareHost(url.hostname), port, https: url.protocol === "https:" };
}

const bareHost = (hostname: string) => hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");

export const isSameDestination = (a: Destination | null, b: Destination | null) =>
  a?.host === b?.host && a?.port === b?.port && a?.https === b?.https;

/** An entry without a port does not name plain http, where anybody on the way could read the value. */
function admits(entry: string, { host, port, https }: Destination): boolean {
  const named = destinationOf(`https://${entry}`);
  if (named?.host !== host || named.port !== port) return false;
  return https || /:\d+$/.test(entry.replace(/^\[.*\]/, ""));
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

  /** Fills in the values that may go to `to`, or with null those that may go anywhere; the others stay as they are. */
  fill(text: string, to: Destination | null, write = (value: string) => value): string {
    if (!this.#pattern) return text;
    return text.replaceAll(this.#pattern, (found) => {
      const placeholder = this.#values.get(found);
      if (!placeholder) return found;
      const { value, hosts } = placeholder;
      return hosts.length === 0 || (to !== null && hosts.some((entry) => admits(entry, to))) ? write(value) : found;
    });
  }

  /** The same for every string of a JSON value; names of fields stay as they are. */
  fillJson(value: JsonValue, to: Destination | null): JsonValue {
    if (typeof value === "string") return this.fill(value, to);
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((item) => this.fillJson(item, to));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.fillJson(item, to)]));
  }
}

const escapeForPattern = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
