import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { StreamingModel } from "../../core/ports.ts";
import { isBlank } from "../../core/text/text.ts";

type Message = LanguageModelV4Prompt[number];
type Assistant = Extract<Message, { role: "assistant" }>;
type ToolMessage = Extract<Message, { role: "tool" }>;
type User = Extract<Message, { role: "user" }>;

/** The model, asked with prompts that the strictest provider takes. */
export function withValidPrompts(model: StreamingModel): StreamingModel {
  return { doStream: (call) => model.doStream({ ...call, prompt: validPrompt(call.prompt) }) };
}

/**
 * A prompt as the strictest provider takes it, whatever a model made up before: names of tools have at most 64 letters,
 * digits, `_` and `-`; ids of calls have at most 40 of them and are unique; no message of the assistant says nothing; and
 * the user and the assistant take turns, the user first. Equal prompts become equal ones, so that providers find them in
 * their caches. A message that needs no change is the same object.
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

/** Stands for the user before a greeting: clients send histories that begin with one. */
const nobodyYet: User = {
  role: "user",
  content: [{ type: "text", text: "(Nobody wrote yet. You began the conversation.)" }],
};

/** Null for a message of the assistant that says nothing. */
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

/** The ids of a prompt's calls, each of which gets one of its own. */
class CallIds {
  readonly #taken = new Set<string>();
  /** By the id as it is stored: the ids of calls whose results are still to come. */
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

/** Some servers take a mere text only, so that texts become one. */
function joinUsers(before: User, { content }: User): User {
  const last = before.content.at(-1);
  const [first, ...more] = content;
  if (last?.type !== "text" || first?.type !== "text") return { ...before, content: [...before.content, ...content] };
  const text = { ...last, text: `${last.text}\n\n${first.text}` };
  return { ...before, content: [...before.content.slice(0, -1), text, ...more] };
}

/** Servers put the texts of a message together as they are. */
function joinReplies(before: Assistant, { content }: Assistant): Assistant {
  const spoken = before.content.some(({ type }) => type === "text");
  const at = spoken ? content.findIndex(({ type }) => type === "text") : -1;
  const apart = content.map((part, index) =>
    index === at && part.type === "text" ? { ...part, text: `\n\n${part.text}` } : part,
  );
  return { ...before, content: [...before.content, ...apart] };
}
