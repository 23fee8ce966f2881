import { APICallError, UnsupportedFunctionalityError } from "@ai-sdk/provider";
import { lengthWords } from "../../core/models/provider-failure.ts";
import type { ModelCall } from "../../core/ports.ts";
import { withoutOlder } from "./too-long.ts";

/** A model call without the parts that its model refused. */
export interface ReducedCall extends ModelCall {
  /** Whether token counts are not requested. */
  uncounted?: boolean;
}

interface Refusal {
  /** 0 for an error without a response, or inside a stream. */
  status: number;
  words: string;
}

/** A part of a model call that can be left out. */
export interface Part {
  isNamed(refusal: Refusal): boolean;
  /** Returns the model call without this part; null when it does not contain the part. */
  leaveOut(call: ReducedCall): ReducedCall | null;
  /** Returns the name under which a refusal is remembered. Absent: the model may accept this part in another call. */
  key?(call: ReducedCall): string;
}

type Message = ModelCall["prompt"][number];

/** Applies `change` to each message. `change` returns the same message when it removes nothing. */
const inMessages =
  (change: (message: Message) => Message): Part["leaveOut"] =>
  (call) => {
    const prompt = call.prompt.map(change);
    return prompt.every((message, at) => message === call.prompt[at]) ? null : { ...call, prompt };
  };

const isInvalid = ({ status }: Refusal) => status === 400 || status === 422;

const named =
  (words: RegExp): Part["isNamed"] =>
  (refusal) =>
    isInvalid(refusal) && words.test(refusal.words);

const pictureWords =
  /(?:image|vision|multi-?modal)[^.]*\b(?:not|only|un\w+)\b|\b(?:no|not|un\w+|missing)\b[^.]*(?:image|vision|multi-?modal)|content must be a string/i;

/** Pictures. Self-hosted servers also refuse them with 404 or 500. They are most of the bytes of a large request. */
const pictures: Part = {
  isNamed: ({ status, words }) =>
    status === 415 || pictureWords.test(words) || (status === 413 && !/token/i.test(words)),
  leaveOut: inMessages((message) => {
    if (message.role !== "user" || message.content.every(({ type }) => type !== "file")) return message;
    const unseen = { type: "text", text: "[A picture that you can't see]" } as const;
    return { ...message, content: message.content.map((part) => (part.type === "file" ? unseen : part)) };
  }),
};

/** The older half of the conversation. llama.cpp refuses a conversation that is too long with 500. */
export const older: Part = {
  isNamed: ({ status, words }) => status === 413 || ([0, 400, 422, 500].includes(status) && lengthWords.test(words)),
  leaveOut(call) {
    const prompt = withoutOlder(call.prompt);
    return prompt && { ...call, prompt };
  },
};

/** DeepSeek and Moonshot require thoughts of earlier turns, which prompts do not contain: this adds a blank. */
const missingThoughts: Part = {
  isNamed: named(/reasoning_content\b[^.]*\b(?:missing|must be)\b|\bmissing\b[^.]*reasoning_content/i),
  leaveOut: inMessages((message) => {
    if (message.role !== "assistant" || message.content.some(({ type }) => type === "reasoning")) return message;
    // A blank, since DeepSeek refuses an empty text.
    return { ...message, content: [{ type: "reasoning", text: " " }, ...message.content] };
  }),
  key: () => "missing thoughts",
};

/** The thoughts: some servers, such as Groq's, do not know their field. */
const thoughts: Part = {
  isNamed: named(/reasoning_content/i),
  leaveOut: inMessages((message) => {
    if (message.role !== "assistant" || message.content.every(({ type }) => type !== "reasoning")) return message;
    return { ...message, content: message.content.filter(({ type }) => type !== "reasoning") };
  }),
  key: () => "thoughts",
};

/** The request for token counts. Databricks and older gateways do not know it; some of them send counts anyway. */
const counts: Part = {
  isNamed: named(/stream_options|include_usage/i),
  leaveOut: (call) => (call.uncounted ? null : { ...call, uncounted: true }),
  key: () => "counts",
};

/** A setting. The model may accept another value of it, such as a lower token limit. */
const setting = (name: "reasoning" | "temperature" | "maxOutputTokens", words: RegExp): Part => ({
  isNamed: named(words),
  leaveOut: ({ [name]: value, ...rest }) => (value === undefined ? null : rest),
  key: (call) => `${name} ${call[name]}`,
});

/** Temperature comes before thinking, since some models refuse a temperature only while they think. */
const settings: readonly Part[] = [
  setting("temperature", /temperature/i),
  setting("maxOutputTokens", /max\w*tokens/i),
  setting("reasoning", /reasoning|thinking/i),
];

/** All removable parts, in the order of their removal. */
export const removableParts: readonly Part[] = [pictures, older, missingThoughts, thoughts, counts, ...settings];

/**
 * The parts to leave out of the next attempt after a refusal. That is the part which the refusal names, else all
 * settings. Empty when nothing is left to leave out. `removed`: what earlier attempts left out in vain.
 */
export function refusedParts(refusal: Refusal, call: ReducedCall, removed: ReadonlyMap<Part, unknown>): Part[] {
  const first = removableParts.find((part) => !removed.has(part) && part.isNamed(refusal) && part.leaveOut(call));
  if (first) return [first];
  return isInvalid(refusal) ? settings.filter((part) => part.leaveOut(call)) : [];
}

export function refusalOf(error: unknown): Refusal {
  // The provider's package throws this error without sending anything.
  if (UnsupportedFunctionalityError.isInstance(error)) return { status: 415, words: "" };
  const { statusCode = 0, responseBody = "" } = APICallError.isInstance(error) ? error : {};
  const message = error instanceof Error ? error.message : JSON.stringify(error);
  return { status: statusCode, words: ownWords(`${message} ${responseBody}`) };
}

/** Matches where an error begins to repeat the request, or to list the fields that a server knows. */
const repeated =
  /["'](?:messages|contents)\\*["']\s*:\s*\[|["'](?:input|request\w*|body)\\*["']\s*:\s*\[?\{|\binput_value=|expected one of /;

/** The server's own text of an error, up to `repeated`: what comes after may contain any words of the conversation. */
const ownWords = (text: string): string => text.slice(0, 4_000).split(repeated, 1).join();
