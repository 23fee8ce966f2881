import type { ActingAgent, Activity } from "../../core/activity/activity.ts";
import { previewOfText } from "../../core/activity/preview.ts";
import type { Saved } from "./store.ts";

/** What activity tells of a memory that was written; what a model says to remember has no secret in it. */
export function writtenMemory(
  agent: ActingAgent,
  conversationId: string,
  { event, memory }: Pick<Saved, "event" | "memory">,
): Activity {
  const content = previewOfText(memory.content);
  const text = event === "ADD" ? "The agent remembers something new" : "The agent corrected what it remembers";
  return { kind: "memory", text, agent, conversationId, memory: { event, content } };
}
