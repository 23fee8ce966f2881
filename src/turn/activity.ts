import type { Activity } from "../core/activity/activity.ts";
import { previewOf, previewOfText } from "../core/activity/preview.ts";
import type { HookExecution, Withheld } from "./types.ts";

/** An activity before its agent and conversation are added. */
export type ActivityDetails = Omit<Activity, "agent" | "conversationId">;

/** Reports a failed hook as a warning. */
export function failedHook({ toolName, event, error, durationMs, args }: HookExecution): ActivityDetails {
  return {
    kind: "governance",
    text: previewOfText(`The hook ${toolName} on ${event} failed: ${error ?? "it gave no reason"}`),
    tool: toolName,
    status: "failed",
    argsPreview: previewOf(args),
    durationMs,
  };
}

/** Reports a call that waits for approval as a warning. */
export function awaitedCall(tool: string): ActivityDetails {
  return { kind: "governance", text: `A person has to decide about a call of ${tool}`, tool, status: "running" };
}

/** Reports a withheld call as a block. */
export function blockedCall(tool: string, why: Withheld | "passed-over"): ActivityDetails {
  return { kind: "governance", text: `A call of ${tool} was blocked: ${reasons[why]}`, tool, status: "blocked" };
}

const reasons = {
  refused: "a person refused it",
  expired: "nobody decided about it in time",
  undecidable: "a person has to approve it, which nobody can here",
  "passed-over": "the conversation went on without a decision about it",
} as const;
