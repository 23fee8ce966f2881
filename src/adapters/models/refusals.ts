import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4Prompt,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider";
import { calling } from "./adapt.ts";

type Options = LanguageModelV4CallOptions;
type Setting = "reasoning" | "temperature" | "maxOutputTokens";
type Part = Setting | "pictures";

/**
 * How providers speak of a part of a call that they refuse. Thinking and pictures need the word of refusal too: other
 * errors are about the blocks of thinking in a conversation, or an image of a container. The first that fits counts, and
 * a temperature may be refused for the thinking.
 */
const refusals: Readonly<Record<Part, RegExp>> = {
  temperature: /temperature/i,
  maxOutputTokens: /max_?(?:new_?|output_?|completion_?)?tokens/i,
  reasoning: /(?:reasoning|thinking)[^.]*\b(?:not|only|un\w+)\b|\b(?:not|un\w+|verified)\b[^.]*(?:reasoning|thinking)/i,
  pictures:
    /(?:image|vision|multi-?modal)[^.]*\b(?:not|only|un\w+)\b|\b(?:no|not|un\w+|missing)\b[^.]*(?:image|vision|multi-?modal)|content must be a string/i,
};

/** Refusals are short; an echo of the conversation after them is none. */
const heard = 2_000;

/**
 * A model that is asked again without a part of the call that it refuses: thinking where it can't, a temperature that it
 * does not take, more tokens than it can write, pictures that it can't see. Only the model knows; lists of names grow
 * old, and servers give their models names of their own. A setting that was refused once is left out of later calls; a
 * picture may be refused for itself.
 */
export function withoutRefused(model: LanguageModelV4): LanguageModelV4 {
  const refused = new Set<Part>();
  return calling(model, async (options, call) => {
    let asked = leaveOut(options, refused);
    const now = new Set<Part>();
    for (;;) {
      try {
        const result = await call(asked);
        for (const part of now) if (part !== "pictures") refused.add(part);
        return result;
      } catch (error) {
        const part = refusedPart(error, asked);
        if (!part) throw error;
        now.add(part);
        asked = leaveOut(asked, now);
      }
    }
  });
}

function refusedPart(error: unknown, options: Options): Part | undefined {
  // The provider's own package may know that it can't send them.
  if (UnsupportedFunctionalityError.isInstance(error)) return hasPictures(options) ? "pictures" : undefined;
  if (!APICallError.isInstance(error)) return undefined;
  const said = `${error.message} ${error.responseBody ?? ""}`.slice(0, heard);
  // Servers of one's own answer pictures with 404 or 500, too.
  const isRefusal = error.statusCode === 400 || error.statusCode === 422;
  // Too long a conversation is about tokens too, and no setting mends it.
  const about = (part: Part) =>
    (isRefusal || part === "pictures") &&
    refusals[part].test(said) &&
    !(part === "maxOutputTokens" && /context/i.test(said));
  return (Object.keys(refusals) as Part[]).find((part) => has(options, part) && about(part));
}

const has = (options: Options, part: Part) =>
  part === "pictures" ? hasPictures(options) : options[part] !== undefined;

function leaveOut(options: Options, parts: ReadonlySet<Part>): Options {
  const kept = { ...options };
  for (const part of parts) {
    if (part === "pictures") kept.prompt = withoutPictures(kept.prompt);
    else delete kept[part];
  }
  return kept;
}

function hasPictures({ prompt }: Options): boolean {
  return prompt.some(({ role, content }) => role === "user" && content.some(({ type }) => type === "file"));
}

/** What the model reads in the place of a picture. */
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
