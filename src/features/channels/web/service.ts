import { eq, sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { isMask } from "../../../core/credentials/masks.ts";
import { EngineError } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { agents, channels } from "../../../db/schema.ts";
import { type AgentRow, endTasksOfOpenWeb, findAgent, writeAgent } from "../../agents/index.ts";
import { authKeyName, saveSecrets, storedKeys } from "../../secrets/index.ts";
import { type ChannelRow, findRow, isChannel, saveRow } from "../row.ts";
import type { WebChannel } from "../schema.ts";
import { openWebConfig } from "./config.ts";
import type { WebConfigChanges } from "./schema.ts";

/** The channel `web` in its API form; off and empty before its first save. */
export async function showWeb(ctx: Ctx, agent: AgentRow, row: ChannelRow | null): Promise<WebChannel> {
  const { contextMapping, allowedOrigins } = await openWebConfig(ctx.cipher, agent.id, row);
  const enabled = row?.enabled ?? false;
  return {
    channelType: "web",
    enabled,
    status: enabled ? "running" : "off",
    lastError: null,
    lastReceivedAt: null,
    lastSentAt: null,
    config: {
      apiKeyConfigured: (await storedKeys(ctx.db, agent.id)).has(authKeyName),
      requireAuthentication: agent.authEnabled,
      contextMapping: { ...contextMapping },
      allowedOrigins: [...allowedOrigins],
    },
  };
}

/** The channel `web`. Throws the 404 of the agent. */
export async function getWeb(ctx: Ctx, slug: string): Promise<WebChannel> {
  const agent = await findAgent(ctx, slug);
  return showWeb(ctx, agent, await findRow(ctx.db, agent.id, "web"));
}

interface WebChanges {
  enabled?: boolean | undefined;
  config: WebConfigChanges;
}

/**
 * Merges the changes into the stored channel. Throws the 404 of the agent, 409 for a key that another agent has, and
 * 400 when the channel would be on with authentication and no key (spec "States"). A refused change changes nothing.
 */
export async function saveWeb(ctx: Ctx, slug: string, wanted: WebChanges): Promise<WebChannel> {
  const { apiKey = "", requireAuthentication, authEnabled, ...config } = wanted.config;
  const newKey = isMask(apiKey) ? "" : apiKey;
  const authentication = requireAuthentication ?? authEnabled;
  const changed: Changes = {};
  // The audit log contains only the names of sealed fields.
  const summary = { keyReplaced: newKey !== "", replaced: [] as string[] };
  const unchanged = () => !summary.keyReplaced && summary.replaced.length === 0 && Object.keys(changed).length === 0;
  const change = { action: "agent.channel.web.update", summary, changes: changed, unchanged };
  await writeAgent(ctx, slug, change, async (tx, agent) => {
    const row = await findRow(tx, agent.id, "web");
    const enabled = wanted.enabled ?? row?.enabled ?? false;
    await saveSecrets(tx, ctx, agent.id, [{ key: authKeyName, value: newKey }]);
    if (authentication !== undefined) {
      await tx.update(agents).set({ authEnabled: authentication }).where(eq(agents.id, agent.id));
      if (authentication && !agent.authEnabled) {
        await endTasksOfOpenWeb(tx, { agent, reason: "authentication", by: ctx });
      }
    }
    if (enabled) await requireKey(tx, agent, authentication ?? agent.authEnabled);
    const stored = await openWebConfig(ctx.cipher, agent.id, row);
    const next = {
      contextMapping: config.contextMapping ?? stored.contextMapping,
      allowedOrigins: config.allowedOrigins ?? stored.allowedOrigins,
    };
    await saveRow(tx, ctx, agent.id, "web", { enabled, config: next });
    summary.replaced = Object.keys(changesBetween(stored, next));
    const before = { enabled: row?.enabled ?? false, requireAuthentication: agent.authEnabled };
    const after = { enabled, requireAuthentication: authentication ?? agent.authEnabled };
    Object.assign(changed, changesBetween(before, after));
  });
  return getWeb(ctx, slug);
}

/** Turns the channel off; its key and its configuration stay. Idempotent. Throws the 404 of the agent. */
export async function turnOffWeb(ctx: Ctx, slug: string): Promise<void> {
  const changes: Changes = {};
  await writeAgent(ctx, slug, { action: "agent.channel.web.delete", changes }, async (tx, { id }) => {
    const before = (await findRow(tx, id, "web")) ?? { enabled: false };
    Object.assign(changes, changesBetween({ enabled: before.enabled }, { enabled: false }));
    await tx.update(channels).set({ enabled: false, updatedAt: sql`now()` }).where(isChannel(id, "web"));
  });
}

async function requireKey(tx: Db, agent: AgentRow, authentication: boolean): Promise<void> {
  if (!authentication || (await storedKeys(tx, agent.id)).has(authKeyName)) return;
  throw new EngineError(
    "bad-request",
    "Web needs an API key while authentication is on: send config.apiKey, or set config.requireAuthentication to false",
  );
}
