import type { Channel } from "../../../core/channels/channels.ts";
import { longestParts } from "../../../core/channels/messengers.ts";
import { replyParts } from "../../../core/channels/reply-parts.ts";
import type { Work } from "../../../jobs/enqueue.ts";
import type { Alongside } from "../../turns/index.ts";

/** The kind of the jobs that send what the outbox holds for one place, in order. */
export const sendKind = "outbox.send";

/** The same where another agent reads it: its turns take longer than a messenger, and ask models. */
export const tellKind = "outbox.tell";

/** Where people, or another agent, read what an agent sends. */
export interface Place {
  agentId: string;
  channel: Channel;
  /** Where the messenger delivers, such as a chat id or a phone number; the slug of an agent. */
  target: string;
}

/** Rows for the outbox and the job that sends them. */
export type Outgoing = Pick<Alongside, "sends" | "work">;

/** What sends a text in Markdown to a place, in parts of the length that its messenger takes; nothing for a blank one. */
export function outgoing(place: Place, markdown: string): Outgoing {
  const { channel, target } = place;
  const sends = replyParts(markdown, longestPart(channel)).map((body) => ({ channel, target, body }));
  return { sends, work: sends.length === 0 ? [] : [sendWork(place)] };
}

/** An agent reads a text as a whole. */
function longestPart(channel: Channel): number {
  const limits: Readonly<Record<string, number>> = longestParts;
  return limits[channel] ?? Number.POSITIVE_INFINITY;
}

/** The job that sends what the outbox holds for a place. One at a time runs for a place, so that parts stay in order. */
export function sendWork({ agentId, channel, target }: Place): Work {
  const kind = channel === "agent" ? tellKind : sendKind;
  const payload = { agentId, channel, target };
  return { kind, key: `${agentId}:${channel}:${target}`, payload, runAt: new Date(0) };
}
