import { z } from "@hono/zod-openapi";
import type { ConversationActivity, ForgottenConversation, StoredRowNotice } from "../../../core/activity/activity.ts";
import type { ActivityEvent } from "../../../core/activity/event.ts";
import { clip } from "../../../core/text/text.ts";

/** A message between the activity buses of two processes. */
export type Message =
  /** The sender has watchers, and has received the events of these processes up to these numbers. */
  | { type: "watched"; heard: Record<string, number> }
  /** Asks each process with watchers to send `watched`. */
  | { type: "who" }
  /**
   * The sender's events up to this number no longer exist. `isForgotten`: only this one event, which does not count as
   * missed.
   */
  | { type: "gone"; upTo: number; isForgotten?: boolean | undefined }
  | { type: "event"; event: SentEvent; live: boolean }
  | { type: "row"; row: StoredRowNotice }
  /** Deletes the events of this conversation, or with a null `ref` all of the agent. */
  | { type: "deleted"; conversation: ForgottenConversation };

export interface SentEvent {
  number: number;
  organizationId: string;
  workspaceId: string;
  /** The event in its wire form. */
  data: Record<string, unknown> & {
    ts: string;
    instance: { id: string };
    conversationId: string | null;
  } & ConversationActivity;
}

const Count = z.int().min(0);

/** An earlier release sends only the id, so only those who watch the conversation get the event. */
const OwningAgent = z.object({
  id: z.string(),
  organizationId: z.string().default(""),
  workspaceId: z.string().default(""),
});

const Message = z.discriminatedUnion("type", [
  z.object({ type: z.literal("watched"), heard: z.record(z.string(), Count) }),
  z.object({ type: z.literal("who") }),
  z.object({ type: z.literal("gone"), upTo: Count, isForgotten: z.boolean().optional() }),
  z.object({
    type: z.literal("event"),
    live: z.boolean(),
    event: z.object({
      number: Count,
      organizationId: z.string(),
      workspaceId: z.string(),
      data: z.looseObject({
        ts: z.iso.datetime(),
        instance: z.looseObject({ id: z.string() }),
        conversationId: z.string().nullable(),
        conversation: z.looseObject({ event: z.string() }).optional(),
      }),
    }),
  }),
  z.object({ type: z.literal("deleted"), conversation: z.object({ agentId: z.string(), ref: z.string().nullable() }) }),
  z.object({
    type: z.literal("row"),
    row: z
      .object({ agent: OwningAgent, conversationId: z.string() })
      .and(z.union([z.object({ messageId: z.string() }), z.object({ hookExecutionId: z.string() })])),
  }),
]);

/** A message as text, after the id of its sender, which can be read without parsing the message. */
export const write = (from: string, message: Message) => `${from} ${JSON.stringify(message)}`;

export const isFrom = (from: string, text: string) => text.startsWith(`${from} `);
/** Whether the message also concerns processes without watchers. Does not parse the message. */
export const isForAll = (text: string) =>
  ["watched", "deleted"].some((type) => text.startsWith(` {"type":"${type}"`, text.indexOf(" ")));

/** Reads a message; null for a text that this release can't have written. */
export function read(text: string): { from: string; message: Message } | null {
  const end = text.indexOf(" ");
  try {
    return { from: text.slice(0, end), message: Message.parse(JSON.parse(text.slice(end + 1))) };
  } catch {
    return null;
  }
}

/** PostgreSQL accepts 7,999 bytes; the difference is for the text around the message in a notice. */
const mostBytes = 7_300;

/** Converts an event of this process for other processes. Cuts its longest texts if it is too long for a notice. */
export function toSent({ number, agent, data }: ActivityEvent): SentEvent {
  const { organizationId, workspaceId } = agent;
  const sent = { number: number ?? 0, organizationId, workspaceId, data: JSON.parse(data) as SentEvent["data"] };
  while (bytesOf(sent) > mostBytes && cutLongest(sent.data)) {}
  return sent;
}

/** The bytes of an event in a notice, where its JSON is a string inside other JSON. */
const bytesOf = (sent: SentEvent) => utf8.encode(JSON.stringify(JSON.stringify(sent))).length;
const utf8 = new TextEncoder();

const cuttable = ["text", "argsPreview", "resultPreview", "responsePreview", "content", "name", "source", "definition"];

/** Halves the longest text that is for people. Returns false when none is long enough. */
function cutLongest(data: Record<string, unknown>): boolean {
  const places = [data, ...["memory", "cron", "webhook"].map((name) => data[name])].filter(isObject).flatMap((object) =>
    cuttable.flatMap((name) => {
      const text = object[name];
      return typeof text === "string" && text.length > 1 ? [{ object, name, text }] : [];
    }),
  );
  const longest = places.sort((one, other) => other.text.length - one.text.length)[0];
  if (longest) longest.object[longest.name] = `${clip(longest.text, Math.floor(longest.text.length / 2) - 1)}…`;
  return longest !== undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
