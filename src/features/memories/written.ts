import type { ActingAgent, Activity } from "../../core/activity/activity.ts";
import { previewOfText } from "../../core/activity/preview.ts";
import type { Saved } from "./store.ts";

/** The activity entry of a written memory. Texts from a model hold no secret. */
export function writtenMemory(
  agent: ActingAgent,
  conversationId: string,
  { event, memory }: Pick<Saved, "event" | "memory">,
): Activity {
  const content = previewOfText(memory.content);
  const text = event === "ADD" ? "The agent remembers something new" : "The agent corrected what it remembers";
  return { kind: "memory", text, agent, conversationId, memory: { event, content } };
}
