import { EngineError } from "../../../core/errors.ts";
import { isStorable } from "../../../core/text/text.ts";
import type { ModelMessage } from "../../../turn/types.ts";
import type { ChatRequest } from "./schema.ts";

/** The most bytes of a turn's new input, since the input is stored and read again with every later turn. */
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
 * Reads the messages as decisions §5 "Input" says. The new input is the run of user messages after the last assistant
 * message. With a `chat_id` the stored transcript is the history; without one, the earlier messages of the request.
 */
export function readInput(request: ChatRequest, headers: { get(name: string): string | undefined }): ChatInput {
  const messages = request.messages.map(readMessage).filter((message) => message !== null);
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant");
  const fresh = messages.slice(lastAnswer + 1).map(({ text }) => text);
  if (fresh.length === 0) throw new EngineError("bad-request", "No user message");
  requireShort(fresh);

  const chatId = readChatId(request, headers);
  const before = chatId === null ? messages.slice(0, lastAnswer + 1) : [];
  const history = before.map(({ role, text }): ModelMessage => ({ role, content: [{ type: "text", text }] }));
  return { chatId, user: request.user || null, history, fresh };
}

function requireShort(texts: readonly string[]): void {
  const utf8 = new TextEncoder();
  const bytes = texts.reduce((sum, text) => sum + utf8.encode(text).byteLength, 0);
  if (bytes > freshLimit) throw new EngineError("bad-request", `Message too long: at most ${freshLimit} bytes`);
}

function readMessage({ role, content }: ChatRequest["messages"][number], index: number): TextMessage | null {
  if (role !== "user" && role !== "assistant") return null;
  const text = readContent(content, index);
  if (text.trim() === "") return null;
  return { role, text };
}

function readContent(content: ChatRequest["messages"][number]["content"], index: number): string {
  const parts = typeof content === "string" ? [content] : (content ?? []).map(readPart);
  const text = parts.join("");
  if (isStorable(text)) return text;
  const message = "must not contain NUL or unpaired surrogates";
  const path = `messages.${index}.content`;
  throw new EngineError("bad-request", `${path}: ${message}`, { issues: [{ path, message }] });
}

function readPart(part: { type: string; text?: unknown }): string {
  if (part.type === "text" && typeof part.text === "string") return part.text;
  throw new EngineError("bad-request", "Only text content is supported");
}

/** The `chat_id` of the body, else of the headers that chat clients send instead. Throws the 400. */
function readChatId({ chat_id }: ChatRequest, headers: { get(name: string): string | undefined }): string | null {
  if (chat_id) return chat_id;
  const header = headers.get("X-Chat-Id") || headers.get("X-OpenWebUI-Chat-Id");
  if (!header) return null;
  if (header.length > 128) throw new EngineError("bad-request", "chat_id: must be at most 128 characters");
  return header;
}
