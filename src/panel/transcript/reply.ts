import type { ChatEvent, Message } from "../../client/index.ts";

/** A tool call, with its result once that has arrived. */
export interface ToolPart {
  type: "tool";
  id: string;
  name: string;
  args: unknown;
  result?: unknown;
  ended: boolean;
}

/** A piece of a reply, in order of arrival. */
export type Part =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | ToolPart
  | { type: "hook"; toolName: string; event: string; success: boolean; durationMs: number };

export interface Reply {
  role: "assistant";
  /** The turn's message id; null until its first event, and for an unstored reply. */
  messageId: string | null;
  conversationId: string | null;
  parts: readonly Part[];
  state: "running" | "done" | "stopped" | "approval";
  /** Why the turn failed. */
  error: string | null;
  /** The ids of tool calls that wait for approval. */
  waiting: readonly string[];
  /** The id with which the stream is resumed. */
  lastEventId: string | null;
  /** When it was stored; null while it arrives. */
  at: string | null;
  /** The conversation from which the agent sent this text on its own; null for a reply in this conversation. */
  sentFrom: string | null;
}

interface Question {
  role: "user";
  text: string;
  at: string | null;
}

export type Entry = Question | Reply;

export const newReply: Reply = {
  role: "assistant",
  messageId: null,
  conversationId: null,
  parts: [],
  state: "running",
  error: null,
  waiting: [],
  lastEventId: null,
  at: null,
  sentFrom: null,
};

/** Applies one more event of the stream to a reply. */
export function applyEvent(reply: Reply, { id, event, data }: ChatEvent): Reply {
  const [messageId = ""] = id.split(":");
  const known: Reply = {
    ...reply,
    messageId: messageId === "" ? reply.messageId : messageId,
    lastEventId: id === "" ? reply.lastEventId : id,
  };
  switch (event) {
    case "text-delta":
      return { ...known, parts: withText(reply.parts, "text", data.text) };
    case "reasoning-delta":
      return { ...known, parts: withText(reply.parts, "reasoning", data.text) };
    case "tool-call":
      return { ...known, parts: withCall(reply.parts, data) };
    case "tool-result":
      return { ...known, parts: reply.parts.map((part) => ended(part, data)) };
    case "hook-execution":
      return { ...known, parts: [...reply.parts, { type: "hook", ...data }] };
    case "error":
      return { ...known, error: data.message };
    case "done": {
      const waiting = data.metadata?.approval?.toolCallIds ?? [];
      const state = waiting.length > 0 ? "approval" : "done";
      // When a message is repeated, the events of the stored reply have no ids.
      const messageId = known.messageId ?? data.messageId;
      return { ...known, messageId, conversationId: data.conversationId, waiting, state };
    }
    default:
      return known;
  }
}

function withText(parts: readonly Part[], type: "text" | "reasoning", text: string): Part[] {
  const last = parts.at(-1);
  if (last?.type === type) return [...parts.slice(0, -1), { type, text: last.text + text }];
  return [...parts, { type, text }];
}

/** Adds a tool call. An approved call is reported a second time when it is made. */
function withCall(parts: readonly Part[], { id, name, args }: { id: string; name: string; args?: unknown }): Part[] {
  const part: ToolPart = { type: "tool", id, name, args, ended: false };
  const at = parts.findIndex((one) => one.type === "tool" && one.id === id);
  return at < 0 ? [...parts, part] : parts.with(at, part);
}

function ended(part: Part, { id, result }: { id: string; result?: unknown }): Part {
  return part.type === "tool" && part.id === id ? { ...part, result, ended: true } : part;
}

/**
 * Converts stored messages, oldest first, to entries of the chat. `newest`: the last of them is the conversation's
 * last. A call that needed approval is shown where it was made, and waits only if nothing comes after it.
 */
export function entriesOf(messages: readonly Message[], conversationId: string, newest: boolean): Entry[] {
  const entries = messages.map((message) => entryOf(message, conversationId));
  const last = newest ? entries.at(-1) : undefined;
  const made = new Set(messages.flatMap(({ steps }) => steps.flatMap(({ toolResults }) => toolResults.map(idOf))));
  return entries.flatMap((entry) => {
    if (entry.role === "user" || entry === last) return [entry];
    const parts = entry.parts.filter((part) => !(part.type === "tool" && !part.ended && made.has(part.id)));
    return parts.length === 0 && entry.error === null ? [] : [{ ...entry, parts, waiting: [] }];
  });
}

const idOf = ({ toolCallId }: { toolCallId: string }) => toolCallId;

/** A stored message as an entry of the chat. */
export function entryOf(message: Message, conversationId: string): Entry {
  const { role, content, steps, metadata, id, createdAt: at } = message;
  if (role === "user") return { role, text: content, at };
  const waiting = waitingIn(metadata);
  return {
    ...newReply,
    messageId: id,
    conversationId,
    waiting,
    at,
    sentFrom: sentFromIn(metadata),
    parts: steps.length > 0 ? steps.flatMap(partsOf) : [{ type: "text", text: content }],
    state: metadata.stopped ? "stopped" : waiting.length > 0 ? "approval" : "done",
    error: errorIn(metadata),
  };
}

function partsOf({ reasoning, text, toolCalls, toolResults }: Message["steps"][number]): Part[] {
  const results = new Map(toolResults.map(({ toolCallId, result }) => [toolCallId, result]));
  return [
    ...(reasoning === "" ? [] : [{ type: "reasoning", text: reasoning } as const]),
    ...(text === "" ? [] : [{ type: "text", text } as const]),
    ...toolCalls.map(({ toolCallId: id, toolName: name, args }): ToolPart => {
      return { type: "tool", id, name, args, result: results.get(id), ended: results.has(id) };
    }),
  ];
}

function waitingIn({ approval }: Record<string, unknown>): string[] {
  if (typeof approval !== "object" || approval === null) return [];
  const { toolCallIds, toolCallId } = approval as { toolCallIds?: string[]; toolCallId?: string };
  return toolCallIds ?? (toolCallId === undefined ? [] : [toolCallId]);
}

function sentFromIn({ sentBy }: Record<string, unknown>): string | null {
  if (typeof sentBy !== "object" || sentBy === null || !("conversationId" in sentBy)) return null;
  return typeof sentBy.conversationId === "string" ? sentBy.conversationId : null;
}

function errorIn({ error }: Record<string, unknown>): string | null {
  if (typeof error === "string") return error;
  if (typeof error !== "object" || error === null) return null;
  const { message, code } = error as { message?: unknown; code?: unknown };
  return String(message ?? code ?? "The turn failed");
}

/** A reply's text, to copy. */
export const wordsOf = ({ parts }: Reply): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
