import { messengerNames } from "./messengers.ts";

// End users (decisions §5). One text is the key of their memories, budgets and usage in every table, so that a statement
// compares one column.

/**
 * `web`: the `user` of a chat request; a messenger: a person there; `conversation`: a conversation whose user is
 * unknown.
 */
export const subjectChannels = ["web", ...messengerNames, "conversation"] as const;
export type SubjectChannel = (typeof subjectChannels)[number];

/**
 * `<channel>:<id>`; empty for no particular end user. Channel names have no colon, so equal ids of two channels have
 * two keys.
 */
export type SubjectKey = `${SubjectChannel}:${string}` | "";

export const subjectKey = <C extends SubjectChannel>(channel: C, id: string): `${C}:${string}` => `${channel}:${id}`;

/** The end user in the API: `subject` is the id; empty, with a null channel, for no particular one. */
export interface ShownSubject {
  subject: string;
  subjectChannel: SubjectChannel | null;
}

/** Reads a key. A key without a channel is from an earlier release, and stands for a `user` of the web. */
export function shownSubject(key: string): ShownSubject {
  if (key === "") return { subject: "", subjectChannel: null };
  const channel = subjectChannels.find((name) => key.startsWith(`${name}:`));
  return channel
    ? { subject: key.slice(channel.length + 1), subjectChannel: channel }
    : { subject: key, subjectChannel: "web" };
}
