import { EngineError } from "../../../core/errors.ts";
import { isStorable } from "../../../core/text.ts";
import type { ModelMessage } from "../../../turn/types.ts";
import type { ChatRequest } from "./schema.ts";

/** What the new input of one turn may have, in bytes: it is stored, and read again with every turn that follows. */
export const freshLimit = 256 * 1024;

/** What a request asks: the new input, and, without a stored conversation, the history it brings along. */
export interface ChatInput {
  chatId: string | null;
  user: string | null;
  history: ModelMessage[];
  fresh: string[];
}

interface Said {
  role: "user" | "assistant";
  text: string;
}

/**
 * Reads the messages as decisions §5 "Input" says: with a `chat_id` the engine's transcript is the history and the
 * new input is the run of user messages after the last assistant message; without one the request is all there is.
 */
export function readInput(request: ChatRequest, headers: { get(name: string): string | undefined }): ChatInput {
  const said = request.messages.map(readMessage).filter((message) => message !== null);
  const lastAnswer = said.findLastIndex(({ role }) => role === "assistant");
  const fresh = said.slice(lastAnswer + 1).map(({ text }) => text);
  if (fresh.length === 0) throw new EngineError("bad-request", "No user message");
  requireShort(fresh);

  const chatId = readChatId(request, headers);
  const before = chatId === null ? said.slice(0, lastAnswer + 1) : [];
  const history = before.map(({ role, text }): ModelMessage => ({ role, content: [{ type: "text", text }] }));
  return { chatId, user: request.user || null, history, fresh };
}

function requireShort(texts: readonly string[]): void {
  const utf8 = new TextEncoder();
  const bytes = texts.reduce((sum, text) => sum + utf8.encode(text).byteLength, 0);
  if (bytes > freshLimit) throw new EngineError("bad-request", `Message too long: at most ${freshLimit} bytes`);
}

function readMessage({ role, content }: ChatRequest["messages"][number], index: number): Said | null {
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

/** The body wins over the headers that stand in for it. */
function readChatId({ chat_id }: ChatRequest, headers: { get(name: string): string | undefined }): string | null {
  if (chat_id) return chat_id;
  const header = headers.get("X-Chat-Id") || headers.get("X-OpenWebUI-Chat-Id");
  if (!header) return null;
  if (header.length > 128) throw new EngineError("bad-request", "chat_id: must be at most 128 characters");
  return header;
}
