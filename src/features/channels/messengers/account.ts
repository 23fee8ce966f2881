import { and, eq, sql } from "drizzle-orm";
import { publicAddress, type Services } from "../../../context/ctx.ts";
import type { MessengerAccount, MessengerName, Transport, WantedWebhook } from "../../../core/channels/messengers.ts";
import { agents, channels } from "../../../db/schema.ts";
import { isSlug } from "../../agents/index.ts";
import { openConfig } from "../row.ts";
import {
  hasSecretPath,
  missingFields,
  openedConfig,
  type Problem,
  type StoredFields,
  transportOf,
  webhookAddress,
} from "./rules.ts";

/** An agent's channel at a messenger, with its settings opened. */
export interface MessengerChannel {
  agent: { id: string; slug: string; organizationId: string; active: boolean };
  name: MessengerName;
  enabled: boolean;
  transport: Transport;
  account: MessengerAccount;
  /** The webhook that the messenger calls; null when it calls none. */
  webhook: WantedWebhook | null;
  /** Whether the webhook's path contains its secret. */
  secretInPath: boolean;
}

/** The agent's channel, on or off; null while a required setting is missing. */
export async function openMessenger(
  services: Services,
  agent: AgentKey,
  name: MessengerName,
): Promise<MessengerChannel | null> {
  return (await findMessenger(services, agent, name))?.channel ?? null;
}

type AgentKey = { id: string } | { slug: string };

export interface FoundMessenger {
  /** Null when a setting is missing. */
  channel: MessengerChannel | null;
  /** The missing settings because of which `channel` is null. */
  missing: readonly Problem[];
  agent: MessengerChannel["agent"];
  enabled: boolean;
  /** When the channel was last saved, to the microsecond. */
  savedAt: string;
  /** The public address with which the channel is to start. */
  registeredAddress: string | null;
}

/** The account, with the settings that starting it needs. */
export async function findMessenger(
  services: Services,
  agent: AgentKey,
  name: MessengerName,
): Promise<FoundMessenger | null> {
  if ("slug" in agent && !isSlug(agent.slug)) return null;
  const { database, cipher, messengers } = services;
  const { id, slug, organizationId, active } = agents;
  const [found] = await database.db
    .select({
      agent: { id, slug, organizationId, active },
      row: channels,
      savedAt: sql<string>`${channels.updatedAt}::text`,
    })
    .from(channels)
    .innerJoin(agents, eq(id, channels.agentId))
    .where(and("id" in agent ? eq(id, agent.id) : eq(slug, agent.slug), eq(channels.type, name)));
  if (!found) return null;
  const { agent: owner, row, savedAt } = found;
  const fields = await openConfig<StoredFields>(cipher, owner.id, name, row);
  const address = publicAddress(services);
  const transport = transportOf(name, fields, address);
  const missing = missingFields(name, fields, transport);
  const { enabled, registeredAddress } = row;
  const known = { agent: owner, enabled, missing, savedAt, registeredAddress };
  if (missing.length > 0) return { ...known, channel: null };
  const secret = fields.webhookSecret ?? null;
  const url = webhookAddress(address, name, owner.slug, fields);
  const scrubOf = () => services.agentSecrets.scrubOf(owner.id);
  const account = messengers.account(openedConfig(name, fields, transport), scrubOf);
  const webhook = transport === "webhook" ? { url, secret } : null;
  const secretInPath = hasSecretPath(name, fields);
  return { ...known, channel: { agent: owner, name, enabled, transport, account, webhook, secretInPath } };
}
