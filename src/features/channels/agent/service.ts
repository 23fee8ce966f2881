import type { Ctx } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import type { Db } from "../../../db/client.ts";
import { type AgentRow, findAgent, touchAskers, writeAgent } from "../../agents/index.ts";
import { type ChannelRow, findRow, saveRow } from "../row.ts";
import type { AgentChannel } from "../schema.ts";

/** Whether other agents may call this agent: yes, unless the channel was turned off. */
export const answersAgents = (row: Pick<ChannelRow, "enabled"> | null) => row?.enabled ?? true;

/** The channel for calls by other agents, in its API form. */
export function showAgent(row: Pick<ChannelRow, "enabled"> | null): AgentChannel {
  const enabled = answersAgents(row);
  return {
    channelType: "agent",
    enabled,
    status: enabled ? "running" : "off",
    lastError: null,
    lastReceivedAt: null,
    lastSentAt: null,
    config: {},
  };
}

/** Turns the channel on or off, or leaves it unchanged. Throws the 404 of the agent. */
export async function saveAgentChannel(
  ctx: Ctx,
  slug: string,
  { enabled: wanted }: { enabled?: boolean | undefined },
  action = "agent.channel.agent.update",
): Promise<AgentChannel> {
  const changes: Changes = {};
  await writeAgent(ctx, slug, { action, changes, concernsAskers: true }, async (tx, agent) => {
    Object.assign(changes, await storeAgentChannel(tx, ctx, agent, wanted));
  });
  const { id } = await findAgent(ctx, slug);
  return showAgent(await findRow(ctx.db, id, "agent"));
}

/** `saveAgentChannel` in a transaction of `writeAgent` that concerns the callers. Returns the change. */
export async function storeAgentChannel(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  wanted: boolean | undefined,
): Promise<Changes> {
  const before = answersAgents(await findRow(tx, agent.id, "agent"));
  const enabled = wanted ?? before;
  if (enabled === before) return {};
  await saveRow(tx, ctx, agent.id, "agent", { enabled, config: {} });
  await touchAskers(tx, agent);
  return changesBetween({ enabled: before }, { enabled });
}
