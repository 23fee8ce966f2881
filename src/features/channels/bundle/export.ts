import { messengerNames } from "../../../core/channels/messengers.ts";
import type { Cipher } from "../../../core/credentials/cipher.ts";
import type { Db } from "../../../db/client.ts";
import { answersAgents } from "../agent/service.ts";
import { hasSettings, type StoredFields, sharedFields } from "../messengers/rules.ts";
import { findRows, openConfig } from "../row.ts";
import { openWebConfig } from "../web/config.ts";
import type { BundledChannel } from "./schema.ts";

/**
 * `web`, the messengers that are on or have settings, and `agent`, each without its credentials, as a bundle holds them.
 */
export async function exportChannels(db: Db, cipher: Cipher, agentId: string): Promise<BundledChannel[]> {
  const rows = await findRows(db, agentId);
  const web = rows.get("web") ?? null;
  const { contextMapping, allowedOrigins } = await openWebConfig(cipher, agentId, web);
  const messengers = messengerNames.map(async (channelType) => {
    const row = rows.get(channelType) ?? null;
    const config = sharedFields(channelType, await openConfig<StoredFields>(cipher, agentId, channelType, row));
    const enabled = row?.enabled ?? false;
    return enabled || hasSettings(config) ? [{ channelType, enabled, config } as BundledChannel] : [];
  });
  return [
    {
      channelType: "web",
      enabled: web?.enabled ?? false,
      config: { contextMapping: { ...contextMapping }, allowedOrigins: [...allowedOrigins] },
    },
    ...(await Promise.all(messengers)).flat(),
    { channelType: "agent", enabled: answersAgents(rows.get("agent") ?? null), config: {} },
  ];
}
