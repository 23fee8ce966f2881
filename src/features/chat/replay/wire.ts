import type { TurnEnding } from "../../../turn/observers.ts";
import type { TurnEvent } from "../../../turn/types.ts";
import { approvalMetadata, servedBy } from "../../turns/index.ts";

/** The text of an event of the native stream. Clients resume by `id`; a refusal has none. */
export function eventText(id: string | null, type: string, data: object): string {
  // Joined: a concatenation would keep the parts of each event in memory as strings.
  return [id === null ? "" : `id: ${id}\n`, "event: ", type, "\ndata: ", JSON.stringify(data), "\n\n"].join("");
}

/** The end of a stream before the end of its turn. */
export interface StreamEnd {
  message: string;
  /** `resume_lost`: events of the turn are gone for good; `unavailable`: a later resume goes on. */
  code?: "resume_lost" | "unavailable";
}

/** An `error` event and the `done` that follows every error (spec "Errors", rule 2). */
export function refusalText({ message, code }: StreamEnd, conversationId: string | null): string {
  const error = { message, ...(code === undefined ? {} : { code }) };
  return eventText(null, "error", error) + eventText(null, "done", { conversationId, messageId: null });
}

/** The data of an event, by the spec's table; null for an event that is not sent. */
export function wireEvent(event: TurnEvent): object | null {
  switch (event.type) {
    case "produced":
    case "model-retry":
    case "model-fallback":
    case "handoff":
    case "approval-request":
      return null;
    case "hook-execution": {
      const { hookId, event: on, toolName, success, durationMs } = event.execution;
      return { hookId, event: on, toolName, success, durationMs };
    }
    case "step-start":
      return { index: event.index, stepType: event.stepType };
    case "reasoning-delta":
    case "text-delta":
      return { text: event.text };
    case "tool-call":
      return { id: event.id, name: event.name, args: event.args };
    case "tool-result":
      return { id: event.id, result: event.result };
    case "step-finish":
      return { index: event.index, finishReason: event.finishReason };
  }
}

/** The data of `done`: the stored reply's id, the calls that wait for approval, and the hook that replaced the reply. */
export function wireDone(turnId: string, conversationId: string, ending: TurnEnding): object {
  if ("unrecorded" in ending) return { conversationId, messageId: null };
  const { outcome, replyKept } = ending;
  const approval = outcome.status === "approval" ? { approval: approvalMetadata(outcome) } : {};
  const metadata = { ...approval, ...servedBy(outcome) };
  return {
    conversationId,
    messageId: replyKept ? turnId : null,
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}
