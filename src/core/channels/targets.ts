import type { MessengerName } from "./messengers.ts";

interface Form {
  /** Captures the chat, and its topic or thread. */
  pattern: RegExp;
  /** The accepted form in words, for a refusal. */
  expected: string;
}

/** The forms of messengers' targets (decisions §8). */
const forms: Readonly<Record<MessengerName, Form>> = {
  telegram: {
    pattern: /^(-?[1-9]\d{0,14}|@[A-Za-z]\w{3,31})(?:[/:]([1-9]\d{0,9}))?$/,
    expected:
      "must be the number of a chat of Telegram, such as 4711 or -1001234567890, or @channel; a topic of it is named by /<topic> behind that",
  },
  slack: {
    pattern: /^([CDGUW][A-Z0-9]{1,30})(?:[/:](\d{1,12}\.\d{1,12}))?$/,
    expected:
      "must be the id of a channel, person or thread of Slack, such as C0123ABCDEF, U0123ABCDEF or C0123ABCDEF:1767225600.000100",
  },
  whatsapp: {
    // A person who hides the number has an id, such as US.13491208655302741918.
    pattern: /^(?:whatsapp:)?(\+[1-9]\d{6,14}|[A-Z]{2}\.[A-Za-z0-9.]{1,140})$/,
    expected: "must be a phone number in E.164, such as +390612345678, with or without whatsapp: before it",
  },
};

/**
 * Reads a target into the form of a conversation's chat: topics and threads after a colon, phone numbers without
 * `whatsapp:`. For an invalid target, returns the expected form.
 */
export function readTarget(name: MessengerName, text: string): { target: string } | { expected: string } {
  const { pattern, expected } = forms[name];
  const [, place, part] = pattern.exec(text) ?? [];
  if (place === undefined) return { expected };
  return { target: part === undefined ? place : `${place}:${part}` };
}
