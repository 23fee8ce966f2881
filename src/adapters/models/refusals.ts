import { APICallError, type LanguageModelV4, type LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { calling } from "./adapt.ts";

type Options = LanguageModelV4CallOptions;
type Setting = "reasoning" | "temperature" | "maxOutputTokens";

/**
 * How providers speak of a setting that they refuse. Thinking needs the word of refusal too: other errors are about the
 * blocks of thinking in a conversation. The first that fits counts, and a temperature may be refused for the thinking.
 */
const refusals: Readonly<Record<Setting, RegExp>> = {
  temperature: /temperature/i,
  maxOutputTokens: /max_?(?:new_?|output_?|completion_?)?tokens/i,
  reasoning: /(?:reasoning|thinking)[^.]*\b(?:not|only|un\w+)\b|\b(?:not|un\w+|verified)\b[^.]*(?:reasoning|thinking)/i,
};

/** Refusals are short; an echo of the conversation after them is none. */
const heard = 2_000;

/**
 * A model that is asked again without a setting of the agent that it refuses: thinking where it can't, a temperature
 * that it does not take, more tokens than it can write. Only the model knows; lists of names grow old, and servers give
 * their models names of their own. What was refused once is left out of later calls.
 */
export function withoutRefused(model: LanguageModelV4): LanguageModelV4 {
  const refused = new Set<Setting>();
  return calling(model, async (options, call) => {
    let asked = leaveOut(options, refused);
    const now = new Set<Setting>();
    for (;;) {
      try {
        const result = await call(asked);
        for (const setting of now) refused.add(setting);
        return result;
      } catch (error) {
        const setting = refusedSetting(error, asked);
        if (!setting) throw error;
        now.add(setting);
        asked = leaveOut(asked, now);
      }
    }
  });
}

function refusedSetting(error: unknown, options: Options): Setting | undefined {
  if (!APICallError.isInstance(error) || (error.statusCode !== 400 && error.statusCode !== 422)) return undefined;
  const said = `${error.message} ${error.responseBody ?? ""}`.slice(0, heard);
  // Too long a conversation is about tokens too, and no setting mends it.
  const about = (setting: Setting) =>
    refusals[setting].test(said) && !(setting === "maxOutputTokens" && /context/i.test(said));
  return (Object.keys(refusals) as Setting[]).find((setting) => options[setting] !== undefined && about(setting));
}

function leaveOut(options: Options, settings: ReadonlySet<Setting>): Options {
  const kept = { ...options };
  for (const setting of settings) delete kept[setting];
  return kept;
}
