import { type MessengerName, messengerNames } from "../../core/channels/messengers.ts";
import { notFound } from "../../core/errors.ts";
import { isObject } from "../../core/json.ts";
import { isStorable } from "../../core/text/text.ts";

/** The channels of both editions. */
export const channelTypes = ["web", ...messengerNames, "agent"] as const;
export type ChannelType = (typeof channelTypes)[number];

/**
 * The channel type in a path. Throws 404 for any other name, including those that only the managed edition
 * has (decisions §1, "Edition").
 */
export function channelType(type: string): ChannelType {
  const found = channelTypes.find((known) => known === type);
  if (!found) throw notFound("Channel");
  return found;
}

export const isMessenger = (type: ChannelType): type is MessengerName =>
  (messengerNames as readonly string[]).includes(type);

/** Names that would reach an object's prototype instead of its data. */
const treacherous: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

const maxEntries = 64;
const maxKey = 128;
const maxPath = 256;

/**
 * The problems of a context mapping (state key → dotted path in the request's context), by key; null for the whole
 * mapping.
 */
export function mappingProblems(mapping: unknown): { key: string | null; message: string }[] {
  if (!isObject(mapping)) {
    return [{ key: null, message: "must be an object of state key to dotted path" }];
  }
  const entries = Object.entries(mapping);
  if (entries.length > maxEntries) return [{ key: null, message: `must have at most ${maxEntries} entries` }];
  return entries.flatMap(([key, path]) => {
    const message = keyProblem(key) ?? pathProblem(path);
    return message === null ? [] : [{ key, message }];
  });
}

function keyProblem(key: string): string | null {
  if (key === "" || key.length > maxKey) return `the key must have 1 to ${maxKey} characters`;
  return isStorable(key) && !treacherous.has(key) ? null : "this key can't be used";
}

function pathProblem(path: unknown): string | null {
  if (typeof path !== "string") return "must be a dotted path, as text";
  if (path === "" || path.length > maxPath) return `must have 1 to ${maxPath} characters`;
  const sound = isStorable(path) && path.split(".").every((part) => part !== "" && !treacherous.has(part));
  return sound ? null : "must be a dotted path, such as user.id";
}

/** An origin in the form that browsers send, or `*` for any; null for another text. */
export function originOf(text: string): string | null {
  if (text === "*") return text;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return null;
  const bare =
    url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  return bare ? url.origin : null;
}

interface Authentication {
  requireAuthentication?: boolean | undefined;
  authEnabled?: boolean | undefined;
}

/** Whether the two names of one setting (decisions §4, "Web") agree. */
export function switchesAgree({ requireAuthentication: one, authEnabled: other }: Authentication): boolean {
  return one === undefined || other === undefined || one === other;
}
