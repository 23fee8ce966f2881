import { isMask, maskOf, maskSign } from "../../../../core/credentials/masks.ts";
import type { McpTransport } from "../../../../core/ports.ts";

/** The transport in its API form, with masked values in address, headers and variables. */
export function maskTransport(transport: McpTransport) {
  if (transport.type === "http") {
    return { ...transport, url: maskUrl(transport.url), headers: mapValues(transport.headers, maskOf) };
  }
  return { ...transport, args: [...transport.args], env: mapValues(transport.env, maskOf) };
}

/**
 * Replaces masks in a transport by the stored values. Throws an `Error` for a mask without a stored value, and for
 * masks together with a new origin or command: a person who sets up a plugin may not read its secrets, so they may be
 * sent only to their server.
 */
export function unmaskTransport(given: McpTransport, stored: McpTransport | null): McpTransport {
  if (given.type === "http") {
    const known = stored?.type === "http" ? stored : null;
    const moved = known !== null && new URL(known.url).origin !== new URL(given.url).origin;
    const field = Object.values(given.headers).some(isMask) ? "headers" : hasMask(given.url) ? "url" : null;
    if (moved && field !== null) {
      throw new Error(`transport.${field}: give the values again, since the address is that of another server`);
    }
    return {
      ...given,
      url: unmaskUrl(given.url, known?.url ?? ""),
      headers: unmask(given.headers, known?.headers ?? {}, "headers"),
    };
  }
  const known = stored?.type === "stdio" ? stored : null;
  if (known !== null && !isSameCommand(given, known) && Object.values(given.env).some(isMask)) {
    throw new Error("transport.env: give the values again, since the command or its arguments are others");
  }
  return { ...given, env: unmask(given.env, known?.env ?? {}, "env") };
}

type Command = Pick<Extract<McpTransport, { type: "stdio" }>, "command" | "args">;

const isSameCommand = (a: Command, b: Command) =>
  JSON.stringify([a.command, ...a.args]) === JSON.stringify([b.command, ...b.args]);

type Values = Readonly<Record<string, string>>;

function unmask(given: Values, stored: Values, field: string): Values {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (!isMask(value)) return [name, value];
      const known = Object.hasOwn(stored, name) ? stored[name] : undefined;
      if (known === undefined) throw new Error(`transport.${field}.${name}: nothing is stored that it could stand for`);
      return [name, known];
    }),
  );
}

const mapValues = (values: Values, change: (value: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

/** A value in an address that is at least this long counts as a secret, whatever its name. */
export const longValue = 16;

/**
 * Whether a path segment is a secret: many servers have their key in the path, as in `/s/<key>/mcp`. A long word
 * without a digit is only a name.
 */
export const isSecretSegment = (segment: string) => segment.length >= longValue && /\d/.test(segment);

/**
 * A part of a query, a fragment, or a path segment that contains a secret or its mask: `lead`, such as `?key=`, then
 * `value`. A value may have no name. All other segments belong to a `lead`.
 */
interface Part {
  lead: string;
  /** Masks of one part are replaced by values of parts with the same name; `/` for parts of the path. */
  name: string;
  value: string;
}

/** The parts of an address; joined, they are the whole address. */
function partsOf(url: string): Part[] {
  const [, head = "", path = "", tail = ""] = /^([^:/\\?#]*:[/\\]*[^/\\?#]*)?([^?#]*)(.*)$/s.exec(url) ?? [];
  const parts: Part[] = [];
  let lead = head;
  for (const segment of path.split(/(?<=[/\\])|(?=[/\\])/)) {
    if (!isSecretSegment(segment) && !isMasked(segment)) lead += segment;
    else {
      parts.push({ lead, name: "/", value: segment });
      lead = "";
    }
  }
  parts.push({ lead, name: "/end", value: "" });
  for (const part of tail.split(/(?=[?&#])/)) {
    const [, before = "", value = ""] = /^([?&#](?:[^=]*=)?)(.*)$/s.exec(part) ?? [];
    parts.push({ lead: before, name: before.slice(1), value });
  }
  return parts;
}

const maskUrl = (url: string) =>
  partsOf(url)
    .map(({ lead, value }) => lead + (value === "" ? "" : maskOf(value)))
    .join("");

/** Clients may send a mask in the encoded form of a parsed address. */
const isMasked = (value: string) => isMask(value) || value.startsWith(encodeURIComponent(maskSign));

const hasMask = (url: string) => partsOf(url).some(({ value }) => isMasked(value));

/** Replaces masks by stored values. Of parts with the same name, the first mask gets the first value, and so on. */
function unmaskUrl(given: string, stored: string): string {
  const known = Map.groupBy(partsOf(stored), ({ name }) => name);
  const values = partsOf(given).map((part) => {
    const next = known.get(part.name)?.shift();
    if (!isMasked(part.value)) return part.lead + part.value;
    if (next === undefined) throw new Error("transport.url: nothing is stored that its masked values could stand for");
    return part.lead + next.value;
  });
  return values.join("");
}
