import { z } from "@hono/zod-openapi";
import { type Ctx, publicAddress } from "../../context/ctx.ts";
import type { ImportNotes } from "../../core/bundle.ts";
import { type MessengerName, messengerNames } from "../../core/channels/messengers.ts";
import type { Cipher } from "../../core/credentials/cipher.ts";
import type { Db } from "../../db/client.ts";
import type { AgentRow } from "../agents/index.ts";
import { authKeyName, storedKeys } from "../secrets/index.ts";
import { answersAgents, storeAgentChannel } from "./agent/service.ts";
import {
  hasSettings,
  mergeFields,
  missingFields,
  type StoredFields,
  sharedFields,
  transportOf,
} from "./messengers/rules.ts";
import { SlackChanges, TelegramChanges, WhatsAppChanges } from "./messengers/schema.ts";
import { storeMessenger } from "./messengers/service.ts";
import { findRow, findRows, openConfig, saveRow } from "./row.ts";
import type { ChannelType } from "./rules.ts";
import { openWebConfig } from "./web/config.ts";
import { WebConfigChanges } from "./web/schema.ts";

const { contextMapping, allowedOrigins } = WebConfigChanges.shape;
const { allowedUserIds, transport: byTelegram } = TelegramChanges.shape;
const { transport: bySlack } = SlackChanges.shape;
const { mode, whatsappNumber, transport: byWhatsApp } = WhatsAppChanges.shape;

const channel = <Type extends ChannelType, Config extends z.ZodRawShape>(type: Type, config: Config, isOn = false) =>
  z.object({
    channelType: z.literal(type),
    enabled: z.boolean().default(isOn),
    config: z.object(config).prefault({} as z.input<z.ZodObject<Config>>),
  });

const BundledChannel = z.discriminatedUnion("channelType", [
  channel("web", { contextMapping, allowedOrigins }),
  channel("telegram", { allowedUserIds, transport: byTelegram }),
  channel("slack", { transport: bySlack }),
  channel("whatsapp", { mode, whatsappNumber, transport: byWhatsApp }),
  channel("agent", {}, true),
]);
export type BundledChannel = z.output<typeof BundledChannel>;

const distinct = (list: readonly BundledChannel[]) =>
  new Set(list.map(({ channelType }) => channelType)).size === list.length;

/** An agent's channels in a bundle, without their credentials. */
export const bundledChannels = z
  .array(BundledChannel)
  .max(16, "must have at most 16 entries")
  .refine(distinct, "must not name a channel twice");

/**
 * The channels for a bundle, without their credentials: `web`, the messengers that are on or have settings, and
 * `agent`.
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

interface Options {
  notes: ImportNotes;
  /** The path of a channel in the bundle, by its index. */
  channelPath(index: number): Path;
  /** Whether to turn Web on without a key, for a bundle older than the switch (spec "Versioning" 5). */
  opensWeb: boolean;
}

/**
 * Gives an agent exactly these channels, in a transaction of `writeAgent` that concerns the callers. Stored credentials
 * stay. A channel without its credential is off. `agent` has the bundle's fields.
 */
export async function importChannels(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  wanted: readonly BundledChannel[],
  { notes, channelPath, opensWeb }: Options,
): Promise<void> {
  const place = (type: string) => channelPath(wanted.findIndex((one) => one.channelType === type));
  const web = wanted.find((one) => one.channelType === "web");
  if (web) await importWeb(tx, ctx, agent, web, { notes, opensWeb, path: place("web") });
  else await saveRow(tx, ctx, agent.id, "web", { enabled: false, config: {} });
  for (const name of messengerNames) {
    const channel = wanted.find((one): one is Messenger => one.channelType === name);
    const sent = { enabled: channel?.enabled ?? false, config: { ...emptied[name], ...channel?.config } };
    await importMessenger(tx, ctx, agent, name, sent, { notes, path: place(name) });
  }
  await storeAgentChannel(tx, ctx, agent, wanted.find((one) => one.channelType === "agent")?.enabled ?? true);
}

type Web = Extract<BundledChannel, { channelType: "web" }>;
type Messenger = Extract<BundledChannel, { channelType: MessengerName }>;
type Path = (string | number)[];

async function importWeb(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  { enabled: wanted, config }: Web,
  { notes, opensWeb, path }: Omit<Options, "channelPath"> & { path: Path },
): Promise<void> {
  const { contextMapping = {}, allowedOrigins = [] } = config;
  const lacksKey = wanted && agent.authEnabled && !(await storedKeys(tx, agent.id)).has(authKeyName);
  const enabled = wanted && (!lacksKey || opensWeb);
  if (lacksKey) {
    const state = enabled
      ? "Web is on, and refuses every call until then"
      : "Web is imported, and off: turn it on then";
    notes.warn("web_key_missing", path, `The agent needs an API key of its own, the secret ${authKeyName}. ${state}`);
  }
  await saveRow(tx, ctx, agent.id, "web", { enabled, config: { contextMapping, allowedOrigins } });
}

/** The messengers' optional settings, all removed: a bundle without them removes them. */
const emptied = {
  telegram: { allowedUserIds: null, transport: null },
  slack: { transport: null },
  whatsapp: { whatsappNumber: null, transport: null },
} as const;

async function importMessenger(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  name: MessengerName,
  { enabled: wanted, config }: { enabled: boolean; config: Readonly<Record<string, string | null | undefined>> },
  { notes, path }: { notes: ImportNotes; path: Path },
): Promise<void> {
  const row = await findRow(tx, agent.id, name);
  const stored = await openConfig<StoredFields>(ctx.cipher, agent.id, name, row);
  const { fields } = mergeFields(name, stored, config);
  if (!row && !wanted && !hasSettings(sharedFields(name, fields))) return;
  const missing = missingFields(name, fields, transportOf(name, fields, publicAddress(ctx)));
  const enabled = wanted && missing.length === 0;
  if (wanted && !enabled) {
    const names = missing.map((problem) => problem.path.at(-1)).join(", ");
    const message = `${name} is imported, and off: save the channel with ${names} to turn it on`;
    notes.warn("channel_credentials_missing", path, message);
  }
  // Not saved when nothing changes, since a save would restart the channel.
  const isSame = row !== null && row.enabled === enabled && sameFields(stored, fields);
  if (!isSame) await storeMessenger(tx, ctx, agent, name, { enabled, config });
}

function sameFields(one: StoredFields, other: StoredFields): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => one[name] === other[name]);
}
