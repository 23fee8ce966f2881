import type { RoomChanges } from "../../../../client/index.ts";
import { Choice, TextField } from "../../../ui/form/field.tsx";

export interface Outbound {
  outboundChannel: NonNullable<RoomChanges["outboundChannel"]> | null;
  outboundTarget: string | null;
}

interface Props {
  values: Outbound;
  /** Where results go while no channel is chosen. */
  otherwise?: string;
  problem: (field: keyof Outbound) => string | undefined;
  onValues: (values: Partial<Outbound>) => void;
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

/** Where results go. */
export const OutboundFields = ({
  values: { outboundChannel, outboundTarget },
  otherwise = "To nobody",
  problem,
  onValues,
}: Props) => (
  <div class="columns">
    <Choice
      label="Results go"
      value={outboundChannel ?? ""}
      problem={problem("outboundChannel")}
      hint="Over the agent's own channel."
      choices={[{ value: "", label: otherwise }, ...channels]}
      onValue={(channel) =>
        onValues(
          channel === ""
            ? { outboundChannel: null, outboundTarget: null }
            : { outboundChannel: channel as keyof typeof targets },
        )
      }
    />
    {outboundChannel !== null && (
      <TextField
        label={targets[outboundChannel]}
        required
        value={outboundTarget ?? ""}
        problem={problem("outboundTarget")}
        onValue={(target) => onValues({ outboundTarget: target || null })}
      />
    )}
  </div>
);
