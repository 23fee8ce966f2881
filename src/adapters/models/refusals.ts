import { APICallError, type LanguageModelV4Prompt, UnsupportedFunctionalityError } from "@ai-sdk/provider";
import { TtlCache } from "../../core/cache.ts";
import { lengthWords, limitWords, type Words } from "../../core/models/provider-failure.ts";
import type { ModelCall, StreamingModel } from "../../core/ports.ts";
import { withoutOlder } from "./older.ts";
import { saidIn } from "./said.ts";
import { type Opened, ShortenedReader } from "./shortened.ts";
import { TooLong } from "./too-long.ts";

/** A call as it is asked, without what was refused. */
export interface AskedCall extends ModelCall {
  /** The server does not want to be asked for counts of tokens. */
  uncounted?: boolean;
}

/** What of a call a model may refuse. */
interface Part {
  /** The words in which providers refuse it. */
  words: Words;
  /** What the calls have in common that are refused for it, too; null where each may be refused for itself. */
  shared(call: ModelCall): string | null;
  has(call: AskedCall): boolean;
  leaveOut(call: AskedCall): AskedCall;
}

/** A model may take another value: a lower limit of tokens, or a temperature within its bounds. */
function setting(name: "reasoning" | "temperature" | "maxOutputTokens", words: Words): Part {
  return {
    words,
    shared: (call) => `${name} ${call[name]}`,
    has: (call) => call[name] !== undefined,
    leaveOut: ({ [name]: _, ...rest }) => rest,
  };
}

type Prompt = LanguageModelV4Prompt;
type Message = Prompt[number];

function ofPrompt(words: Words, has: (prompt: Prompt) => boolean, leaveOut: (prompt: Prompt) => Prompt): Part {
  return {
    words,
    shared: () => null,
    has: ({ prompt }) => has(prompt),
    leaveOut: (call) => ({ ...call, prompt: leaveOut(call.prompt) }),
  };
}

const pictures = ofPrompt(
  /(?:image|vision|multi-?modal)[^.]*\b(?:not|only|un\w+)\b|\b(?:no|not|un\w+|missing)\b[^.]*(?:image|vision|multi-?modal)|content must be a string/i,
  (prompt) => prompt.some(({ role, content }) => role === "user" && content.some(({ type }) => type === "file")),
  (prompt) => prompt.map(withoutPictures),
);

const older = ofPrompt(
  lengthWords,
  (prompt) => withoutOlder(prompt) !== null,
  (prompt) => withoutOlder(prompt) ?? prompt,
);

/** Next to a context, a limit of tokens is mostly named as a part of what is too long. */
const limitOfTokens: Words = {
  test: (said) =>
    limitWords.test(said) ||
    /^(?!.*context).*max_?(?:new_?|output_?|completion_?)?tokens|tokens\W+is too large/is.test(said),
};

/** Servers that know no such field, as Groq's does not. */
const thoughts: Part = {
  ...ofPrompt(
    /reasoning_content/i,
    (prompt) => prompt.some(isThought),
    (prompt) => prompt.map(withoutThoughts),
  ),
  shared: () => "thoughts",
};

/** DeepSeek and Moonshot want what their models thought in earlier turns, which no prompt has: a blank stands for it. */
const missingThoughts: Part = {
  ...ofPrompt(
    /reasoning_content\b[^.]*\b(?:missing|must be)\b|\bmissing\b[^.]*reasoning_content/i,
    (prompt) => prompt.some((message) => message.role === "assistant" && !isThought(message)),
    (prompt) => prompt.map(withThoughts),
  ),
  shared: () => "missing thoughts",
};

/** Databricks and older gateways know no such field; some of them send counts unasked. */
const counts: Part = {
  words: /stream_options|include_usage/i,
  shared: () => "counts",
  has: ({ uncounted }) => !uncounted,
  leaveOut: (call) => ({ ...call, uncounted: true }),
};

/**
 * The first part that is refused counts. Temperature comes before thinking, because some models refuse a temperature on
 * account of their thinking. Thinking and pictures need a word of refusal too: other errors mention the blocks of thinking
 * in a conversation, or an image of a container. An error about too long a conversation names tokens, too. That of
 * vLLM says that their limit is too large, which counts once nothing older is left.
 */
const parts: readonly Part[] = [
  older,
  setting("temperature", /temperature/i),
  setting("maxOutputTokens", limitOfTokens),
  missingThoughts,
  thoughts,
  setting(
    "reasoning",
    /(?:reasoning|thinking)[^.]*\b(?:not|only|un\w+)\b|\b(?:not|un\w+|verified)\b[^.]*(?:reasoning|thinking)/i,
  ),
  pictures,
  counts,
];

/** How long a refusal is known: an operator may put another model behind the same name. */
const knownMs = 30 * 60_000;

/** How many refused parts and values of a model are known at once. */
const mostRefused = 100;

/**
 * A model that is called again without a part that it refused: thinking, a temperature, more tokens than it can write,
 * what it thought before, counts of tokens, pictures, or the older half of a conversation that is too long. Only a refusal
 * tells what a model takes: lists of names grow old, and servers give models names of their own. What was refused once is
 * left out of later calls, but for pictures, other values, and conversations other than the one that was too long: one of
 * them may be refused for itself.
 */
export function withoutRefused(model: StreamingModel, now: () => number): StreamingModel {
  const refused = new TtlCache<Part>({ ttlMs: knownMs, limit: mostRefused, now });
  const tooLong = new TooLong(knownMs, now);
  const withoutKnown = (call: AskedCall, part: Part) => {
    const shared = part.has(call) ? part.shared(call) : null;
    return shared !== null && refused.get(shared) ? part.leaveOut(call) : call;
  };
  const open = async (call: ModelCall): Promise<Opened> => {
    let asked: AskedCall = parts.reduce(withoutKnown, call);
    let longer: ModelCall | null = null;
    const newly = new Map<Part, string>();
    const doubted = new Set<Part>();
    for (;;) {
      asked = await tooLong.shorten(asked);
      try {
        const { stream } = await model.doStream(asked);
        for (const [part, shared] of newly) if (!doubted.has(part)) refused.set(shared, part);
        return { asked, refused: longer, reader: stream.getReader() };
      } catch (error) {
        const said = refusalOf(error);
        const part = refusedPart(error, said, { asked, before: newly });
        if (!part) throw error;
        // What is named although it was left out was merely named before, too.
        for (const before of newly.keys()) if (before.words.test(said)) doubted.add(before);
        const shared = part.shared(asked);
        if (shared !== null) newly.set(part, shared);
        if (part === older) longer = asked;
        asked = part.leaveOut(asked);
      }
    }
  };
  const note = tooLong.note.bind(tooLong);
  return {
    async doStream(call) {
      const reader = new ShortenedReader(call, await open(call), { open, note });
      return { stream: { getReader: () => reader } };
    },
  };
}

/** The words of a refusal; none where there was no answer. */
const refusalOf = (error: unknown) => (APICallError.isInstance(error) ? saidIn(error.message, error.responseBody) : "");

interface Asked {
  asked: AskedCall;
  before: ReadonlyMap<Part, string>;
}

function refusedPart(error: unknown, said: string, { asked: call, before }: Asked): Part | undefined {
  // Before it is asked.
  if (UnsupportedFunctionalityError.isInstance(error)) return pictures.has(call) ? pictures : undefined;
  if (!APICallError.isInstance(error)) return undefined;
  const { statusCode } = error;
  if (statusCode === 413) {
    // Where bytes are counted and not tokens, pictures have by far the most of them.
    const tooLarge = /token/i.test(said) ? [older] : [pictures, older];
    return tooLarge.find((part) => part.has(call));
  }
  const isRefusal = statusCode === 400 || statusCode === 422;
  // Self-hosted servers refuse pictures with 404 or 500, too, and llama.cpp refuses what is too long with 500.
  const isFailure = (part: Part) => part === pictures || (part === older && statusCode === 500);
  return parts.find(
    (part) => (isRefusal || isFailure(part)) && !before.has(part) && part.words.test(said) && part.has(call),
  );
}

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

/** Stands in the prompt in place of a picture. */
const unseen = "[A picture that you can't see]";

function withoutPictures(message: Message): Message {
  if (message.role !== "user") return message;
  const content = message.content.map((part) =>
    part.type === "file" ? { type: "text" as const, text: unseen } : part,
  );
  return { ...message, content };
}
