import { type Ctx, publicAddress } from "../../../context/ctx.ts";
import type { ImportNotes } from "../../../core/bundle.ts";
import { type MessengerName, messengerNames } from "../../../core/channels/messengers.ts";
import type { Db } from "../../../db/client.ts";
import type { AgentRow } from "../../agents/index.ts";
import { authKeyName, storedKeys } from "../../secrets/index.ts";
import { storeAgentChannel } from "../agent/service.ts";
import {
  hasSettings,
  mergeFields,
  missingFields,
  type StoredFields,
  sharedFields,
  transportOf,
} from "../messengers/rules.ts";
import { storeMessenger } from "../messengers/service.ts";
import { findRow, openConfig, saveRow } from "../row.ts";
import type { BundledChannel } from "./schema.ts";

interface Options {
  notes: ImportNotes;
  /** Where the bundle has the channel at an index. */
  channelPath(index: number): Path;
  /** Whether Web is turned on though the agent has no key: the bundle is from before the switch (spec "Versioning" 5). */
  opensWeb: boolean;
}

/**
 * Gives an agent exactly these channels, inside a transaction of `writeAgent` that concerns the askers; stored
 * credentials stay. A channel that lacks one is off. `agent` has the fields that the bundle gives it.
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

/** The settings of a messenger that a bundle may leave out, which has them removed. */
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
  // A save would start the channel again.
  const isSame = row !== null && row.enabled === enabled && sameFields(stored, fields);
  if (!isSame) await storeMessenger(tx, ctx, agent, name, { enabled, config });
}

function sameFields(one: StoredFields, other: StoredFields): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => one[name] === other[name]);
}
