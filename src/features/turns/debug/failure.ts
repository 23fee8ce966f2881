import { APICallError } from "@ai-sdk/provider";
import type { Scrub } from "../../../core/scrub/scrub.ts";
import { shorten } from "../../../core/text/clip-json.ts";
import { Blocked } from "../../../turn/failure.ts";
import type { Failure } from "../../../turn/types.ts";
import type { TurnDebug } from "../../conversations/index.ts";
import { describeCause } from "../end/cause.ts";

/** The longest provider answer, in characters. */
const longestAnswer = 1_000;

/** A failed call of a model as it is kept, with the provider's own words. */
export function keptFailure({ code, message, hint, cause }: Failure, scrub: Scrub): NonNullable<TurnDebug["failure"]> {
  const said = code === "internal" ? null : answerIn(cause);
  return { code, message, hint: hint ?? null, said: said && shorten(scrub(said), longestAnswer) };
}

/** A provider's error answer; null without one. Connection errors are left out, since they name internal addresses. */
function answerIn(cause: unknown): string | null {
  if (APICallError.isInstance(cause)) {
    return (cause.statusCode ?? 0) < 400 ? null : cause.responseBody || cause.message;
  }
  if (cause instanceof Blocked) return cause.message;
  // The error of a stream comes as data.
  return cause === undefined || cause instanceof Error ? null : describeCause(cause);
}
