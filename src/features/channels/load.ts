import { messengerNames } from "../../core/channels/messengers.ts";
import type { Cipher } from "../../core/credentials/cipher.ts";
import type { Db } from "../../db/client.ts";
import { answersAgents } from "./agent/service.ts";
import { credentialsIn, type StoredFields } from "./messengers/rules.ts";
import { findRows, openConfig } from "./row.ts";
import { openWebConfig, type WebConfig } from "./web/config.ts";

/** The settings of an agent's channels that a turn uses. */
export interface LoadedChannels {
  web: WebConfig & { enabled: boolean };
  answersAgents: boolean;
  /** The credentials of its messengers, which no turn may show. */
  credentials: string[];
}

export async function loadChannels(db: Db, cipher: Cipher, agentId: string): Promise<LoadedChannels> {
  const rows = await findRows(db, agentId);
  const web = rows.get("web") ?? null;
  const opened = messengerNames.map(async (name) =>
    credentialsIn(name, await openConfig<StoredFields>(cipher, agentId, name, rows.get(name) ?? null)),
  );
  return {
    web: { ...(await openWebConfig(cipher, agentId, web)), enabled: web?.enabled ?? false },
    answersAgents: answersAgents(rows.get("agent") ?? null),
    credentials: (await Promise.all(opened)).flat(),
  };
}
