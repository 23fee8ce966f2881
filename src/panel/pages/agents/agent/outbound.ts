import type { RoomChanges } from "../../../../client/index.ts";
import type { FieldOf } from "../../../ui/form/form.tsx";

export interface Outbound {
  outboundChannel: NonNullable<RoomChanges["outboundChannel"]> | null;
  outboundTarget: string | null;
}

const channels = [
  { value: "telegram", label: "Telegram" },
  { value: "slack", label: "Slack" },
  { value: "whatsapp", label: "WhatsApp" },
  { value: "agent", label: "Another agent" },
] as const;

const targets = {
  telegram: "Id of the chat",
  slack: "Id of the channel or person",
  whatsapp: "Phone number",
  agent: "The agent's name in addresses",
} as const;

/** A destination in words. */
export function destinationText({ outboundChannel, outboundTarget }: Outbound): string {
  const name = channels.find(({ value }) => value === outboundChannel)?.label;
  return name === undefined ? "to nobody" : `${name} ${outboundTarget ?? ""}`.trim();
}

/** The fields of a destination; `otherwise` says what happens without one. */
export const outboundFields = (
  { outboundChannel }: Outbound,
  otherwise = "To nobody",
): readonly FieldOf<Outbound>[] => [
  {
    name: "outboundChannel",
    label: "Results go",
    hint: "Over the agent's own channel.",
    kind: "choice",
    choices: [{ value: "", label: otherwise }, ...channels],
    empty: null,
    also: (channel) => (channel === null ? { outboundTarget: null } : {}),
  },
  {
    name: "outboundTarget",
    label: targets[outboundChannel ?? "agent"],
    required: true,
    empty: null,
    shown: outboundChannel !== null,
  },
];
