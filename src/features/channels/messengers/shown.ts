import { type Ctx, publicAddress } from "../../../context/ctx.ts";
import type { MessengerName } from "../../../core/channels/messengers.ts";
import type { AgentRow } from "../../agents/index.ts";
import { type ChannelRow, type ChannelStatus, openConfig } from "../row.ts";
import type { MessengerChannelShown } from "../schema.ts";
import { type StoredFields, shownFields, transportOf } from "./rules.ts";
import { hasSecretPath, webhookAddress } from "./webhook.ts";

/** A messenger's channel as the wire shows it; off and empty before its first save. */
export async function showMessenger(
  ctx: Ctx,
  { id, slug }: Pick<AgentRow, "id" | "slug">,
  name: MessengerName,
  row: ChannelRow | null,
): Promise<MessengerChannelShown> {
  const fields = await openConfig<StoredFields>(ctx.cipher, id, name, row);
  const address = publicAddress(ctx);
  const transport = transportOf(name, fields, address);
  // Anybody who knows an address with a secret in it can send messages as any person.
  const maySee = !hasSecretPath(name, fields) || ctx.membership.permissions.has("agent.channel:write");
  const webhookUrl = webhookAddress(address, name, slug, fields);
  const shown = {
    channelType: name,
    enabled: row?.enabled ?? false,
    status: (row?.status ?? "off") as ChannelStatus,
    lastError: row?.lastError ?? null,
    lastReceivedAt: row?.lastReceivedAt?.toISOString() ?? null,
    lastSentAt: row?.lastSentAt?.toISOString() ?? null,
    config: { ...shownFields(name, fields), transport, ...(transport === "webhook" && maySee ? { webhookUrl } : {}) },
  };
  return shown as MessengerChannelShown;
}
