import { explainConnection } from "../egress/connection.ts";
import { EgressError } from "../egress/target.ts";
import { ProviderSetupError } from "../errors.ts";

/** The facts of a failed model call. */
export interface ProviderFailure {
  /** The HTTP status of the provider's response; undefined without one. */
  status?: number | undefined;
  /** The text of the response. It is used only to choose the explanation. */
  said?: string | undefined;
  /** The error of a call without a response. */
  error?: unknown;
}

const noKey = "The provider refused the key";
const noModel = "The provider knows no such model";
const noMoney = "The account at the provider has no money or quota left";
const noTools =
  "The model, or its server as it is set up, calls no tools: choose another, or turn the agent's tools off";
const tooLong = "The prompt is longer than the model can read: shorten it, or have the server give it a larger context";
const otherApi = "The address does not answer as the provider's API does: check it";

/** Matches texts of providers that mean the same. */
type TextMatcher = Pick<RegExp, "test">;

/** Matches providers' errors about a too long prompt. vLLM reports a negative number of tokens left for the reply. */
const overlong =
  /context exceed|(?:prompt|input)(?: is)? too long|(?:prompt|input)(?: length \d+)? exceeds (?:the )?max|maximum prompt length|(?:prompt|input) token count|model token limit|longer than the max|reduce the length|range of input length|tokens must be at least 1, got -|超长/i;

/** Matches the name of a context limit: the reason of a refusal, unless the error names another one. */
const measure = /context[ _](?:length|size|window|limit)/i;

/**
 * Matches errors about another field, or about the token limit alone instead of its sum with the prompt, such as
 * Groq's.
 */
const other =
  /\b(?:unsupported|unrecogni[sz]ed|unknown|unexpected|deprecated|forbidden|not (?:supported|permitted|allowed)|(?:not|n't) support)\b|(?<!\b(?:and|plus) [`'"]?|\+ ?[`'"]?)\bmax_?(?:new_?|output_?|completion_?)?tokens\b[`'"]?(?: ?\([^)]*\)| ?[=:]? ?\d+)? (?:exceeds|must be|must not|should be|can't|cannot|is (?:greater|larger|more|higher))\b/i;

/** Whether an error means that a prompt is too long, and does not only mention the context. */
export const lengthWords: TextMatcher = {
  test: (said) => overlong.test(said) || (measure.test(said) && !other.test(said)),
};

/** Texts of providers, for statuses that have several meanings. */
const said: readonly (readonly [words: TextMatcher, meaning: string])[] = [
  [/insufficient_quota|credit balance|billing/i, noMoney],
  [lengthWords, tooLong],
  [
    /(?:not|n't) support (?:tool|function)|\btool calling\W+is not supported|support tool use|tool choice requires/i,
    noTools,
  ],
  [/api.?key[^.]*\b(?:not|in)\s?valid|invalid[^.]*api.?key|unauthori[sz]ed/i, noKey],
  [
    /(?:unknown|invalid|no such)[ _-]model\b|\bmodel\b[^.]{0,200}(?:not[ _](?:found|exist|supported)|does not exist)/i,
    noModel,
  ],
];

const byStatus: Readonly<Record<number, string>> = {
  401: noKey,
  402: noMoney,
  403: "The provider refused the key, or what it asked for",
  404: "The provider knows no such model, or its API is not at this address",
  408: "The provider took too long",
  413: "The provider found the request too large",
  429: "The provider is asked too often",
  504: "The provider took too long",
};

/**
 * Explains to the operator why a provider could not be called. In the engine's own words, since the provider's may
 * contain a key or the conversation.
 */
export function explainProvider({ status, said: words = "", error }: ProviderFailure): string {
  if (status === undefined) return explainUnanswered(error);
  return `${meaningOf(status, words.slice(0, longestWords))} (status ${status})`;
}

const longestWords = 2_000;

function meaningOf(status: number, words: string): string {
  if (status < 300) return otherApi;
  if (status < 400) return "The address redirects: give the one that it redirects to";
  const known = [400, 403, 404, 422, 429].includes(status) ? said.find(([form]) => form.test(words)) : undefined;
  if (known) return known[1];
  if (status === 500 && lengthWords.test(words)) return tooLong;
  return byStatus[status] ?? (status < 500 ? "The provider refused the request" : "The provider failed");
}

function explainUnanswered(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at instanceof EgressError || at instanceof ProviderSetupError) return at.message;
    if ("code" in at) return explainConnection(String(at.code));
  }
  return "The provider cannot be reached";
}
