import { APICallError, type LanguageModelV4Prompt, UnsupportedFunctionalityError } from "@ai-sdk/provider";
import type { ModelCall, StreamingModel } from "../../core/ports.ts";

type Setting = "reasoning" | "temperature" | "maxOutputTokens";
type Part = Setting | "missingThoughts" | "thoughts" | "pictures";

/**
 * The words in which providers refuse a part of a call. Thinking and pictures need a word of refusal too: other errors
 * mention the blocks of thinking in a conversation, or an image of a container. The first match counts; temperature
 * comes before thinking, because some models refuse a temperature on account of their thinking.
 */
const refusals: Readonly<Record<Part, RegExp>> = {
  temperature: /temperature/i,
  maxOutputTokens: /max_?(?:new_?|output_?|completion_?)?tokens/i,
  missingThoughts: /reasoning_content\b[^.]*\b(?:missing|must be)\b|\bmissing\b[^.]*reasoning_content/i,
  thoughts: /reasoning_content/i,
  reasoning: /(?:reasoning|thinking)[^.]*\b(?:not|only|un\w+)\b|\b(?:not|un\w+|verified)\b[^.]*(?:reasoning|thinking)/i,
  pictures:
    /(?:image|vision|multi-?modal)[^.]*\b(?:not|only|un\w+)\b|\b(?:no|not|un\w+|missing)\b[^.]*(?:image|vision|multi-?modal)|content must be a string/i,
};

/** The longest refusal, in characters; an echo of the conversation may follow it. */
const longestRefusal = 2_000;

/**
 * A model that is called again without a part that it refused: thinking, a temperature, more tokens than it can write,
 * what it thought before, or pictures. Where it misses what it thought in earlier turns, which no prompt has, a blank
 * stands for that. Only a refusal tells what a model takes: lists of names grow old, and servers give models names of
 * their own. What was refused once is left out of later calls. Pictures are not: one of them may be refused for itself.
 */
export function withoutRefused(model: StreamingModel): StreamingModel {
  const refused = new Set<Part>();
  return {
    async doStream(call) {
      let asked = leaveOut(call, refused);
      const now = new Set<Part>();
      for (;;) {
        try {
          const result = await model.doStream(asked);
          for (const part of now) if (part !== "pictures") refused.add(part);
          return result;
        } catch (error) {
          const part = refusedPart(error, asked);
          if (!part) throw error;
          now.add(part);
          asked = leaveOut(asked, now);
        }
      }
    },
  };
}

function refusedPart(error: unknown, call: ModelCall): Part | undefined {
  // Before it is asked.
  if (UnsupportedFunctionalityError.isInstance(error)) return hasPictures(call) ? "pictures" : undefined;
  if (!APICallError.isInstance(error)) return undefined;
  const said = `${error.message} ${error.responseBody ?? ""}`.slice(0, longestRefusal);
  // Self-hosted servers refuse pictures with 404 or 500, too.
  const isRefusal = error.statusCode === 400 || error.statusCode === 422;
  // An error about too long a conversation names tokens too, and no setting mends it.
  const about = (part: Part) =>
    (isRefusal || part === "pictures") &&
    refusals[part].test(said) &&
    !(part === "maxOutputTokens" && /context/i.test(said));
  return (Object.keys(refusals) as Part[]).find((part) => has(call, part) && about(part));
}

function has(call: ModelCall, part: Part): boolean {
  switch (part) {
    case "pictures":
      return hasPictures(call);
    case "thoughts":
      return call.prompt.some(isThought);
    case "missingThoughts":
      return call.prompt.some((message) => message.role === "assistant" && !isThought(message));
    default:
      return call[part] !== undefined;
  }
}

function leaveOut(call: ModelCall, parts: ReadonlySet<Part>): ModelCall {
  const rest = { ...call };
  for (const part of parts) {
    if (part === "pictures") rest.prompt = withoutPictures(rest.prompt);
    else if (part === "thoughts") rest.prompt = rest.prompt.map(withoutThoughts);
    else if (part === "missingThoughts") rest.prompt = rest.prompt.map(withThoughts);
    else delete rest[part];
  }
  return rest;
}

type Message = LanguageModelV4Prompt[number];

const isThought = ({ role, content }: Message) =>
  role === "assistant" && content.some(({ type }) => type === "reasoning");

function withoutThoughts(message: Message): Message {
  if (message.role !== "assistant") return message;
  return { ...message, content: message.content.filter(({ type }) => type !== "reasoning") };
}

function withThoughts(message: Message): Message {
  if (message.role !== "assistant" || isThought(message)) return message;
  // DeepSeek takes no empty text.
  return { ...message, content: [{ type: "reasoning", text: " " }, ...message.content] };
}

function hasPictures({ prompt }: ModelCall): boolean {
  return prompt.some(({ role, content }) => role === "user" && content.some(({ type }) => type === "file"));
}

/** Stands in the prompt in place of a picture. */
const unseen = "[A picture that you can't see]";

function withoutPictures(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.map((message) => {
    if (message.role !== "user") return message;
    const content = message.content.map((part) =>
      part.type === "file" ? { type: "text" as const, text: unseen } : part,
    );
    return { ...message, content };
  });
}
