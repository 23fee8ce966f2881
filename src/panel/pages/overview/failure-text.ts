import type { AnalyticsNow } from "../../../client/index.ts";

export type FailureItem = AnalyticsNow["failures"]["items"][number];

/** Explanations of failed turns, by code. */
const codes: Readonly<Record<string, string>> = {
  "provider-failed": "the model provider answered with an error",
  "provider-timeout": "the model took too long",
  "rate-limited": "the model provider is asked too often, or a budget is used up",
  internal: "the server made a mistake; its log says which",
  lost: "the server stopped before it ended",
};

/** A failure in words, and its reason separately. */
export function failureText({ kind, name, error }: FailureItem): { what: string; why: string } {
  const why = error ?? "no reason is known";
  switch (kind) {
    case "turn":
      return { what: `A reply over ${name ?? "a channel"} failed`, why: codes[why] ?? why };
    case "task":
      return { what: `The task “${name ?? ""}” did not run to its end`, why };
    case "message":
      return { what: `A message over ${name ?? "a messenger"} was given up`, why };
    case "event":
      return { what: "An event of the Room was given up", why };
    case "channel":
      return { what: `The channel ${name ?? ""} does not work`, why };
  }
}

/** The page that shows more about a failure. */
export const failurePath = ({ conversationId, instanceId }: FailureItem): readonly string[] =>
  conversationId === null ? ["agents", instanceId] : ["conversations", conversationId];
