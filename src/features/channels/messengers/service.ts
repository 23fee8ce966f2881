import { type Ctx, publicAddress } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import type { MessengerName } from "../../../core/channels/messengers.ts";
import { randomToken } from "../../../core/ids.ts";
import { type Db, sqlState } from "../../../db/client.ts";
import { channels } from "../../../db/schema.ts";
import { invalid } from "../../../http/errors.ts";
import { type AgentRow, findAgent, writeAgent } from "../../agents/index.ts";
import { type ChannelRow, type ChannelStatus, findRow, isChannel, openConfig, saveRow } from "../row.ts";
import type { MessengerChannelShown } from "../schema.ts";
import { accountTaken, claimAccount } from "./claim.ts";
import { enqueueLeave } from "./leave.ts";
import {
  changedFields,
  hasSecretPath,
  isSameAccount,
  mergeFields,
  missingFields,
  type StoredFields,
  shownFields,
  transportOf,
  webhookAddress,
} from "./rules.ts";
import type { Changes as Sent } from "./schema.ts";
import { enqueueStart } from "./start.ts";

interface MessengerChanges {
  enabled?: boolean | undefined;
  config: Sent;
}

/**
 * Merges the changes into the stored channel and enqueues its start: each save of an enabled channel restarts it.
 * Throws the 404 of the agent, a 400 with the field when the configuration is incomplete, and 409 when another agent
 * uses the account. A refused change changes nothing.
 */
export async function saveMessenger(
  ctx: Ctx,
  slug: string,
  name: MessengerName,
  wanted: MessengerChanges,
): Promise<MessengerChannelShown> {
  const changed: Changes = {};
  const summary = { replaced: [] as string[] };
  const unchanged = () => summary.replaced.length === 0 && Object.keys(changed).length === 0;
  const change = { action: `agent.channel.${name}.update`, summary, changes: changed, unchanged };
  await writeAgent(ctx, slug, change, async (tx, agent) => {
    const { before, after, replaced } = await storeMessenger(tx, ctx, agent, name, wanted);
    // The audit log contains only the names of sealed fields.
    summary.replaced = replaced;
    Object.assign(changed, changesBetween(before, after));
  });
  const agent = await findAgent(ctx, slug);
  return showMessenger(ctx, agent, name, await findRow(ctx.db, agent.id, name));
}

/**
 * `saveMessenger` in a transaction of `writeAgent`. Returns whether the channel was and is on, and the changed fields.
 */
export async function storeMessenger(tx: Db, ctx: Ctx, agent: AgentRow, name: MessengerName, wanted: MessengerChanges) {
  const row = await findRow(tx, agent.id, name);
  const stored = await openConfig<StoredFields>(ctx.cipher, agent.id, name, row);
  const { fields, problems } = mergeFields(name, stored, wanted.config);
  const wasEnabled = row?.enabled ?? false;
  const enabled = wanted.enabled ?? wasEnabled;
  const registeredAddress = publicAddress(ctx);
  const missing = enabled ? missingFields(name, fields, transportOf(name, fields, registeredAddress)) : [];
  if (problems.length + missing.length > 0) throw invalid([...problems, ...missing]);
  const isSame = isSameAccount(name, stored, fields);
  const config = withWebhookSecret(name, fields, isSame);
  const accountHmac = enabled ? await claimAccount(tx, ctx.cipher, agent.id, name, config) : null;
  const status = enabled ? "starting" : "off";
  const start = { status, registeredAddress, accountHmac } as const;
  await saveRow(tx, ctx, agent.id, name, { enabled, config, start }).catch((error: unknown) => {
    // Another agent got the account at the same time.
    throw sqlState(error) === "23505" ? accountTaken(name) : error;
  });
  if (row?.enabled && !(enabled && isSame)) await enqueueLeave(tx, ctx.cipher, agent, name, row);
  if (enabled) await enqueueStart(tx, agent, name);
  return { before: { enabled: wasEnabled }, after: { enabled }, replaced: changedFields(stored, config) };
}

/** Turns the channel off and deletes its credentials. Idempotent. Throws the 404 of the agent. */
export async function removeMessenger(ctx: Ctx, slug: string, name: MessengerName): Promise<void> {
  let removed = false;
  const change = { action: `agent.channel.${name}.delete`, unchanged: () => !removed };
  await writeAgent(ctx, slug, change, async (tx, agent) => {
    const row = await findRow(tx, agent.id, name);
    removed = row !== null;
    if (row?.enabled) await enqueueLeave(tx, ctx.cipher, agent, name, row);
    await tx.delete(channels).where(isChannel(agent.id, name));
  });
}

/** Adds a webhook secret to channels that need one: at the first save, and a new one for a new account. */
function withWebhookSecret(
  name: MessengerName,
  { webhookSecret, ...fields }: StoredFields,
  keep: boolean,
): StoredFields {
  if (name !== "telegram" && !hasSecretPath(name, fields)) return fields;
  return { ...fields, webhookSecret: (keep && webhookSecret) || randomToken(24) };
}

/** A messenger's channel in its API form; off and empty before its first save. */
export async function showMessenger(
  ctx: Ctx,
  { id, slug }: Pick<AgentRow, "id" | "slug">,
  name: MessengerName,
  row: ChannelRow | null,
): Promise<MessengerChannelShown> {
  const fields = await openConfig<StoredFields>(ctx.cipher, id, name, row);
  const address = publicAddress(ctx);
  const transport = transportOf(name, fields, address);
  // An address with a secret is hidden: with it, anyone can send messages in the name of any person.
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
