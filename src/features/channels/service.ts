import type { Ctx } from "../../context/ctx.ts";
import { messengerNames } from "../../core/channels/messengers.ts";
import type { Cipher } from "../../core/credentials/cipher.ts";
import { EngineError } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { findAgent } from "../agents/index.ts";
import { answersAgents, saveAgentChannel, showAgent } from "./agent/service.ts";
import { parseConfig } from "./config.ts";
import { testMessenger } from "./messengers/check.ts";
import { credentialsIn, type StoredFields } from "./messengers/rules.ts";
import { removeMessenger, saveMessenger, showMessenger } from "./messengers/service.ts";
import { findRows, openConfig } from "./row.ts";
import { type ChannelType, channelTypes, isMessenger } from "./rules.ts";
import type { Channel, ChannelChanges, ChannelTest } from "./schema.ts";
import { openWebConfig, type WebConfig } from "./web/config.ts";
import { saveWeb, showWeb, turnOffWeb } from "./web/service.ts";

/** Every channel of an agent, on or off. Throws the 404 of the agent. */
export async function listChannels(ctx: Ctx, slug: string): Promise<Channel[]> {
  const agent = await findAgent(ctx, slug);
  const rows = await findRows(ctx.db, agent.id);
  return Promise.all(
    channelTypes.map((type): Channel | Promise<Channel> => {
      const row = rows.get(type) ?? null;
      if (isMessenger(type)) return showMessenger(ctx, agent, type, row);
      return type === "web" ? showWeb(ctx, agent, row) : showAgent(row);
    }),
  );
}

/** Merges the changes into a channel. Throws the 404 of the agent, and the errors of the channel's type. */
export async function saveChannel(
  ctx: Ctx,
  slug: string,
  type: ChannelType,
  changes: ChannelChanges,
): Promise<Channel> {
  const { enabled } = changes;
  if (isMessenger(type)) {
    return saveMessenger(ctx, slug, type, { enabled, config: parseConfig(type, changes.config) });
  }
  if (type === "web") return saveWeb(ctx, slug, { enabled, config: parseConfig(type, changes.config) });
  parseConfig(type, changes.config);
  return saveAgentChannel(ctx, slug, { enabled });
}

/** Turns a channel off. Idempotent. Throws the 404 of the agent. */
export async function turnOffChannel(ctx: Ctx, slug: string, type: ChannelType): Promise<void> {
  if (isMessenger(type)) await removeMessenger(ctx, slug, type);
  else if (type === "web") await turnOffWeb(ctx, slug);
  else await saveAgentChannel(ctx, slug, { enabled: false }, "agent.channel.agent.delete");
}

/** Tests a messenger's channel. Throws the 404 of the agent, and 400 for a channel without an account. */
export async function testChannel(ctx: Ctx, slug: string, type: ChannelType): Promise<ChannelTest> {
  if (isMessenger(type)) return testMessenger(ctx, slug, type);
  await findAgent(ctx, slug);
  throw new EngineError("bad-request", `The channel ${type} has no account at a messenger that could be tested`);
}

/** The channel settings that a turn uses. */
export interface LoadedChannels {
  web: WebConfig & { enabled: boolean };
  answersAgents: boolean;
  /** The credentials of the agent's messengers, which no turn may show. */
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
