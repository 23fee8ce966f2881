import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { StreamingModel } from "../../core/ports.ts";
import { isBlank } from "../../core/text/text.ts";

type Message = LanguageModelV4Prompt[number];
type Assistant = Extract<Message, { role: "assistant" }>;
type ToolMessage = Extract<Message, { role: "tool" }>;
type User = Extract<Message, { role: "user" }>;

/** A model whose prompts are put into the form that the strictest provider accepts. */
export function withValidPrompts(model: StreamingModel): StreamingModel {
  return { doStream: (call) => model.doStream({ ...call, prompt: validPrompt(call.prompt) }) };
}

/**
 * Puts a prompt into the form that the strictest provider accepts, whatever earlier models invented: tool names have at
 * most 64 letters, digits, `_` and `-`; call ids have at most 40 of them and are unique; no assistant message is empty;
 * user and assistant alternate, beginning with the user. Equal prompts stay equal, for the providers' caches. An
 * unchanged message is the same object.
 */
export function validPrompt(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const ids = new CallIds();
  const valid: LanguageModelV4Prompt = [];
  for (const message of prompt) {
    const next = validMessage(message, ids);
    const last = valid.at(-1);
    if (next === null) continue;
    if (next.role === "assistant" && (last === undefined || last.role === "system")) valid.push(nobodyYet, next);
    else if (last?.role === "user" && next.role === "user") valid[valid.length - 1] = joinUsers(last, next);
    else if (last?.role === "assistant" && next.role === "assistant") valid[valid.length - 1] = joinReplies(last, next);
    else valid.push(next);
  }
  return valid;
}

/** Comes before an assistant's greeting: the histories of some clients begin with one. */
const nobodyYet: User = {
  role: "user",
  content: [{ type: "text", text: "(Nobody wrote yet. You began the conversation.)" }],
};

/** The valid form of a message; null for an empty assistant message. */
function validMessage(message: Message, ids: CallIds): Message | null {
  if (message.role === "assistant") {
    if (!message.content.some(isAnswer)) return null;
    const content = message.content.filter((part) => part.type !== "text" || isAnswer(part) || part.providerOptions);
    return withContent(
      message,
      content.map((part) => (part.type === "tool-call" ? renamed(part, ids.ofCall(part.toolCallId)) : part)),
    );
  }
  if (message.role !== "tool") return message;
  return withContent(
    message,
    message.content.map((part) => (part.type === "tool-result" ? renamed(part, ids.ofResult(part.toolCallId)) : part)),
  );
}

const isAnswer = (part: Assistant["content"][number]) =>
  part.type === "text" ? !isBlank(part.text) : part.type !== "reasoning";

function withContent<Of extends Assistant | ToolMessage>(message: Of, content: Of["content"]): Of {
  const before: readonly unknown[] = message.content;
  const isSame = before.length === content.length && before.every((part, index) => part === content[index]);
  return isSame ? message : { ...message, content };
}

function renamed<Part extends { toolCallId: string; toolName: string }>(part: Part, toolCallId: string): Part {
  const toolName = validName(part.toolName);
  return toolCallId === part.toolCallId && toolName === part.toolName ? part : { ...part, toolCallId, toolName };
}

const nameForm = /^[A-Za-z0-9_-]{1,64}$/;

function validName(name: string): string {
  return nameForm.test(name) ? name : name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "_";
}

const idForm = /^[A-Za-z0-9_-]{1,40}$/;

/** Gives each call of a prompt a unique id. */
class CallIds {
  readonly #taken = new Set<string>();
  /** The new ids of calls whose results are still to come, by their stored id. */
  readonly #open = new Map<string, string[]>();

  ofCall(stored: string): string {
    let id = stored;
    for (let count = this.#taken.size; !idForm.test(id) || this.#taken.has(id); count += 1) id = `call_${count}`;
    this.#taken.add(id);
    this.#open.set(stored, [...(this.#open.get(stored) ?? []), id]);
    return id;
  }

  ofResult(stored: string): string {
    return this.#open.get(stored)?.shift() ?? stored;
  }
}

/** Joins two user messages. Their texts become one, since some servers accept only a plain text. */
function joinUsers(before: User, { content }: User): User {
  const last = before.content.at(-1);
  const [first, ...more] = content;
  if (last?.type !== "text" || first?.type !== "text") return { ...before, content: [...before.content, ...content] };
  const text = { ...last, text: `${last.text}\n\n${first.text}` };
  return { ...before, content: [...before.content.slice(0, -1), text, ...more] };
}

/** Joins two assistant messages. Servers join the texts of a message without a separator. */
function joinReplies(before: Assistant, { content }: Assistant): Assistant {
  const spoken = before.content.some(({ type }) => type === "text");
  const at = spoken ? content.findIndex(({ type }) => type === "text") : -1;
  const apart = content.map((part, index) =>
    index === at && part.type === "text" ? { ...part, text: `\n\n${part.text}` } : part,
  );
  return { ...before, content: [...before.content, ...apart] };
}
