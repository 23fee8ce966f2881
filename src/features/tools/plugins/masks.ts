import type { McpTransport } from "../../../core/ports.ts";

const sign = "••••";
/** Of a shorter value four characters would tell too much. */
const shortestShown = 12;

export const isMask = (value: string) => value.startsWith(sign);

const maskValue = (value: string) => (value.length < shortestShown ? sign : `${sign}${value.slice(-4).toWellFormed()}`);

/** The transport as the wire shows it, with masks for the values of query, headers and variables. */
export function maskTransport(transport: McpTransport) {
  if (transport.type === "http") {
    return { ...transport, url: maskUrl(transport.url), headers: mapValues(transport.headers, maskValue) };
  }
  return { ...transport, args: [...transport.args], env: mapValues(transport.env, maskValue) };
}

/**
 * The transport with the stored values in place of masks. Throws an `Error` for a mask without a stored value, and for
 * masks with the address of another origin: whoever sets a plugin up may not read its secrets, so they stay with their
 * server.
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
  return { ...given, env: unmask(given.env, stored?.type === "stdio" ? stored.env : {}, "env") };
}

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

/** A part of a query, or a fragment: `lead`, such as `?key=`, then `value`. A value without a name is a value too. */
interface Part {
  lead: string;
  value: string;
}

/** The parts of an address; `head` and all parts, joined, are the address. */
function partsOf(url: string): { head: string; parts: Part[] } {
  const [, head = "", tail = ""] = /^([^?#]*)(.*)$/s.exec(url) ?? [];
  const parts = tail.split(/(?=[?&#])/).map((part) => {
    const [, lead = "", value = ""] = /^([?&#](?:[^=]*=)?)(.*)$/s.exec(part) ?? [];
    return { lead, value };
  });
  return { head, parts };
}

function maskUrl(url: string): string {
  const { head, parts } = partsOf(url);
  return head + parts.map(({ lead, value }) => lead + (value === "" ? "" : maskValue(value))).join("");
}

/** Clients may send a mask in the encoded form that a parsed address has. */
const isMaskedPart = ({ value }: Part) => isMask(value) || value.startsWith(encodeURIComponent(sign));

const hasMask = (url: string) => partsOf(url).parts.some(isMaskedPart);

/** Puts the stored values in place of masks: of parts with the same name the first for the first, and so on. */
function unmaskUrl(given: string, stored: string): string {
  const { head, parts } = partsOf(given);
  const nameOf = ({ lead }: Part) => lead.slice(1);
  const known = Map.groupBy(partsOf(stored).parts, nameOf);
  const values = parts.map((part) => {
    const next = known.get(nameOf(part))?.shift();
    if (!isMaskedPart(part)) return part.lead + part.value;
    if (next === undefined) throw new Error("transport.url: nothing is stored that its masked values could stand for");
    return part.lead + next.value;
  });
  return head + values.join("");
}
