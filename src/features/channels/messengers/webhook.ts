import type { MessengerName } from "../../../core/channels/messengers.ts";
import type { StoredFields } from "./rules.ts";

/** Whether the secret of a channel is a part of its webhook's path: Twilio signs nothing for API keys (spec). */
export const hasSecretPath = (name: MessengerName, fields: StoredFields) =>
  name === "whatsapp" && fields.mode === "api_key";

/** Where a messenger calls for an agent (spec, "Inbound webhooks"). */
export function webhookAddress(publicAddress: string, name: MessengerName, slug: string, fields: StoredFields): string {
  const path = name === "whatsapp" ? `twilio/${slug}/whatsapp` : `${name}/${slug}`;
  const secret = hasSecretPath(name, fields) ? `/${fields.webhookSecret ?? ""}` : "";
  return `${publicAddress}/webhooks/${path}${secret}`;
}
