import { EngineError } from "../../../core/errors.ts";
import { isStorable, storable } from "../../../core/text/text.ts";
import type { ModelMessage } from "../../../turn/types.ts";
import type { ChatRequest } from "../doors/schema.ts";

/** The most bytes of a turn's new input: the input is stored, and read again in every later turn. */
export const freshLimit = 256 * 1024;

/** The messages of a request. */
export interface ChatInput {
  chatId: string | null;
  user: string | null;
  /** The earlier messages; empty with a `chatId`, since the stored conversation is the history then. */
  history: ModelMessage[];
  /** The new user messages. */
  fresh: string[];
}

interface TextMessage {
  role: "user" | "assistant";
  text: string;
}

/**
 * Reads the messages by decisions §5 "Input". The new input is the run of user messages after the last assistant
 * message. With a `chat_id` the stored transcript is the history; without one, the request's earlier messages are. Only
 * the new input can be refused, since a client repeats the earlier messages with each request.
 */
export function readInput(request: ChatRequest, headers: { get(name: string): string | undefined }): ChatInput {
  const newest = request.messages.findLastIndex(({ role }) => role === "assistant") + 1;
  const messages = request.messages
    .map((message, index) => readMessage(message, index < newest ? leniently : strictlyAt(index)))
    .filter((message) => message !== null);
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant");
  const fresh = messages.slice(lastAnswer + 1).map(({ text }) => text);
  if (fresh.length === 0) throw new EngineError("bad-request", "No user message");
  requireShort(fresh);

  const chatId = readChatId(request, headers, messages);
  const before = chatId === null ? messages.slice(0, lastAnswer + 1) : [];
  const history = before.map(({ role, text }): ModelMessage => ({ role, content: [{ type: "text", text }] }));
  return { chatId, user: request.user || null, history, fresh };
}

function requireShort(texts: readonly string[]): void {
  const utf8 = new TextEncoder();
  const bytes = texts.reduce((sum, text) => sum + utf8.encode(text).byteLength, 0);
  if (bytes > freshLimit) throw new EngineError("bad-request", `Message too long: at most ${freshLimit} bytes`);
}

type RequestMessage = ChatRequest["messages"][number];

/** Returns the text of a message's parts. */
type Read = (parts: readonly { type: string; text?: unknown }[]) => string;

function readMessage({ role, content }: RequestMessage, read: Read): TextMessage | null {
  if (role !== "user" && role !== "assistant") return null;
  const text = read(typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []));
  if (text.trim() === "") return null;
  return { role, text };
}

/** Leaves out parts that are no text. */
const leniently: Read = (parts) =>
  storable(parts.map(({ type, text }) => (type === "text" && typeof text === "string" ? text : "")).join(""));

/** Throws the 400 for a message that can't be answered. */
const strictlyAt =
  (index: number): Read =>
  (parts) => {
    const text = parts.map(readPart).join("");
    if (isStorable(text)) return text;
    const message = "must not contain NUL or unpaired surrogates";
    const path = `messages.${index}.content`;
    throw new EngineError("bad-request", `${path}: ${message}`, { issues: [{ path, message }] });
  };

function readPart({ type, text }: { type: string; text?: unknown }): string {
  if (type === "text" && typeof text === "string") return text;
  throw new EngineError("bad-request", "Only text content is supported");
}

/** The `chat_id` of the body, else of the headers that chat clients send instead. Throws the 400. */
function readChatId(
  { chat_id }: ChatRequest,
  headers: { get(name: string): string | undefined },
  messages: readonly TextMessage[],
): string | null {
  if (chat_id) return chat_id;
  const own = headers.get("X-Chat-Id");
  const header = own || headers.get("X-OpenWebUI-Chat-Id");
  if (!header || (!own && isChore(messages))) return null;
  if (header.length > 128) throw new EngineError("bad-request", "chat_id: must be at most 128 characters");
  return header;
}

/**
 * Whether the messages are Open WebUI's request for a title, tags and the like: it carries the chat's id, but is not
 * part of the conversation. Open WebUI's template for questions about documents begins similarly.
 */
const isChore = ([first, ...more]: readonly TextMessage[]) =>
  more.length === 0 && first?.role === "user" && /^### Task:(?!\s*Respond to the user query\b)/.test(first.text);
