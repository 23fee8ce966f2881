import type { Channel } from "../../../core/channels.ts";
import { replyParts } from "../../../core/reply-parts.ts";
import type { Alongside } from "../../turns/index.ts";

/** The kind of the jobs that send what the outbox holds for one place, in order. */
export const sendKind = "outbox.send";

/** Where people read what an agent sends. */
export interface Place {
  agentId: string;
  channel: Channel;
  /** Where the messenger delivers, such as a chat id or a phone number. */
  target: string;
}

/** The rows that send a text in Markdown to a place, in parts of at most `longestPart` UTF-16 units; none for a blank one. */
export function outgoing(place: Place, markdown: string, longestPart: number): Pick<Alongside, "sends" | "work"> {
  const { channel, target } = place;
  const sends = replyParts(markdown, longestPart).map((body) => ({ channel, target, body }));
  return { sends, work: sends.length === 0 ? [] : [sendWork(place)] };
}

/** The job that sends what the outbox holds for a place. One at a time runs for a place, so that parts stay in order. */
export function sendWork(place: Place) {
  const { agentId, channel, target } = place;
  return { kind: sendKind, key: `${agentId}:${channel}:${target}`, payload: { ...place }, runAt: new Date(0) };
}
