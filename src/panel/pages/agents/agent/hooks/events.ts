import type { Hook } from "../../../../../client/index.ts";

export type HookEvent = Hook["event"];

/** When a hook may run, in the order of a turn (docs/hooks.md). */
export const events: readonly { value: HookEvent; label: string; hint: string }[] = [
  {
    value: "conversation_start",
    label: "Before the first message of a conversation",
    hint: "What the tool answers is told to the model.",
  },
  { value: "message_received", label: "Before each message", hint: "What the tool answers is told to the model." },
  {
    value: "response_generated",
    label: "When the reply is complete",
    hint: "What the tool answers can take the place of the reply.",
  },
  { value: "response_sent", label: "After the reply was sent", hint: "For telling another system." },
];

export const labelOf = (event: HookEvent) => events.find(({ value }) => value === event)?.label ?? event;
