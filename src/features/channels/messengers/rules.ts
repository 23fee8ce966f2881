import type { MessengerConfig, MessengerName, Transport } from "../../../core/channels/messengers.ts";
import { isMask } from "../../../core/credentials/masks.ts";
import { isPublicAddress } from "../../../core/egress/target.ts";

/** The stored fields of a messenger's channel; a field without a value is absent. */
export type StoredFields = Readonly<Record<string, string>>;

/** A problem of one field of `config`, as a sentence. */
export interface Problem {
  path: string[];
  message: string;
}

const problem = (field: string, message: string): Problem => ({ path: ["config", field], message });

const credentials: Readonly<Record<MessengerName, readonly string[]>> = {
  telegram: ["botToken"],
  slack: ["botToken", "signingSecret", "appToken"],
  whatsapp: ["accountSid", "authToken", "apiKeySid", "apiKeySecret"],
};

/** The credentials of each mode of WhatsApp. A save in one mode deletes those of the other mode (spec "States"). */
const modes = { auth_token: ["authToken"], api_key: ["apiKeySid", "apiKeySecret"] } as const;
type Mode = keyof typeof modes;

type SentFields = Readonly<Record<string, string | null | undefined>>;

/** Merges changes into the stored fields. A mask or an empty text leaves a credential unchanged; null removes it. */
export function mergeFields(
  name: MessengerName,
  stored: StoredFields,
  sent: SentFields,
): { fields: StoredFields; problems: Problem[] } {
  const news = Object.entries(sent).filter(
    (entry): entry is [string, string | null] => entry[1] !== undefined && !keeps(name, entry[0], entry[1]),
  );
  const merged: Record<string, string> = { ...stored };
  for (const [field, value] of news) {
    if (value === null || value === "") delete merged[field];
    else merged[field] = value;
  }
  return name === "whatsapp" ? inOneMode(merged, new Map(news)) : { fields: merged, problems: [] };
}

/** The fields whose values differ, except for the webhook's secret, which nobody sets. */
export function changedFields(before: StoredFields, after: StoredFields): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((field) => field !== "webhookSecret" && before[field] !== after[field]).sort();
}

/** Whether both settings belong to the same bot, workspace or account, by the credential that identifies it. */
export function isSameAccount(name: MessengerName, one: StoredFields, other: StoredFields): boolean {
  const field = name === "whatsapp" ? "accountSid" : "botToken";
  return one[field] === other[field];
}

const keeps = (name: MessengerName, field: string, value: string | null) =>
  value !== null && credentials[name].includes(field) && (value === "" || isMask(value));

function inOneMode(
  merged: Record<string, string>,
  news: ReadonlyMap<string, unknown>,
): { fields: StoredFields; problems: Problem[] } {
  const sentModes = (Object.keys(modes) as Mode[]).filter((mode) => modes[mode].some((field) => news.get(field)));
  if (sentModes.length > 1) {
    return { fields: merged, problems: [problem("mode", "send either authToken, or apiKeySid and apiKeySecret")] };
  }
  const mode = (news.get("mode") as Mode | undefined) ?? sentModes[0] ?? (merged.mode as Mode | undefined);
  if (mode === undefined) return { fields: merged, problems: [] };
  const [sentMode = mode] = sentModes;
  if (sentMode !== mode)
    return { fields: merged, problems: [problem(modes[sentMode][0], `is no credential of the mode ${mode}`)] };
  const others = mode === "auth_token" ? [...modes.api_key, "webhookSecret"] : modes.auth_token;
  const fields = Object.entries(merged).filter(([field]) => !(others as readonly string[]).includes(field));
  return { fields: { ...Object.fromEntries(fields), mode }, problems: [] };
}

/** The transport of a channel that has none chosen, or whose chosen one is no longer possible. */
export function transportOf(name: MessengerName, fields: StoredFields, publicAddress: string): Transport {
  if (name === "whatsapp") return "webhook";
  if (fields.transport !== undefined) return fields.transport as Transport;
  if (isReachable(publicAddress)) return "webhook";
  if (name === "telegram") return "polling";
  return fields.appToken === undefined ? "webhook" : "socket";
}

/** Whether a messenger may reach an address: https, and neither a local name nor a private address. */
export function isReachable(address: string): boolean {
  const url = URL.parse(address);
  if (url?.protocol !== "https:") return false;
  const host = url.hostname.replace(/\.$/, "");
  if (host.startsWith("[") || /^[\d.]+$/.test(host)) return isPublicAddress(host.replaceAll(/[[\]]/g, ""));
  return host.includes(".") && !/\.(local|localhost|internal|lan|home|home\.arpa|test|invalid)$/.test(host);
}

/** The problems that prevent enabling a channel; empty when there are none. */
export function missingFields(name: MessengerName, fields: StoredFields, transport: Transport): Problem[] {
  const needed = neededFields(name, fields, transport).filter((field) => fields[field] === undefined);
  return needed.map((field) => problem(field, `is needed before ${name} can be turned on`));
}

function neededFields(name: MessengerName, fields: StoredFields, transport: Transport): readonly string[] {
  if (name === "telegram") return ["botToken"];
  if (name === "slack") return ["botToken", transport === "socket" ? "appToken" : "signingSecret"];
  return ["accountSid", ...modes[(fields.mode ?? "auth_token") as Mode], "whatsappNumber"];
}

/** The settings of a channel that can be enabled (`missingFields`). */
export function openedConfig(name: MessengerName, fields: StoredFields, transport: Transport): MessengerConfig {
  const field = (key: string) => {
    const value = fields[key];
    if (value === undefined) throw new Error(`The channel ${name} has no ${key}`);
    return value;
  };
  if (name === "telegram") {
    const allowedUserIds = (fields.allowedUserIds ?? "").split(",").filter((id) => id !== "");
    return { name, config: { botToken: field("botToken"), allowedUserIds } };
  }
  if (name === "slack") {
    const bySocket = transport === "socket";
    const signingSecret = bySocket ? null : field("signingSecret");
    return {
      name,
      config: { botToken: field("botToken"), signingSecret, appToken: bySocket ? field("appToken") : null },
    };
  }
  const account = { accountSid: field("accountSid"), whatsappNumber: field("whatsappNumber") };
  return fields.mode === "api_key"
    ? {
        name,
        config: {
          ...account,
          credentials: { mode: "api_key", apiKeySid: field("apiKeySid"), apiKeySecret: field("apiKeySecret") },
        },
      }
    : { name, config: { ...account, credentials: { mode: "auth_token", authToken: field("authToken") } } };
}

/** The fields in their API form: masked credentials, and never the webhook's secret. */
export function shownFields(name: MessengerName, { webhookSecret, ...fields }: StoredFields): Record<string, string> {
  const masked = Object.entries(fields).map(([field, value]) => [
    field,
    credentials[name].includes(field) ? maskOf(value) : value,
  ]);
  return Object.fromEntries(masked);
}

/** Whether the fields contain settings. A mode alone is no setting, since it follows from the credentials. */
export const hasSettings = ({ mode, ...shared }: StoredFields) => Object.keys(shared).length > 0;

/** The fields that are neither credentials nor the webhook's secret, by name. */
export function sharedFields(name: MessengerName, { webhookSecret, ...fields }: StoredFields): Record<string, string> {
  const shared = Object.entries(fields).filter(([field]) => !credentials[name].includes(field));
  return Object.fromEntries(shared.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The values of a channel with which somebody else could impersonate it. */
export function credentialsIn(name: MessengerName, fields: StoredFields): string[] {
  return [...credentials[name], "webhookSecret"].flatMap((field) => fields[field] ?? []);
}

const maskOf = (value: string) => `••••${value.slice(-4)}`;

/** Whether the webhook's path contains the channel's secret: Twilio signs nothing for API keys (spec). */
export const hasSecretPath = (name: MessengerName, fields: StoredFields) =>
  name === "whatsapp" && fields.mode === "api_key";

/** The address that a messenger calls for an agent (spec, "Inbound webhooks"). */
export function webhookAddress(publicAddress: string, name: MessengerName, slug: string, fields: StoredFields): string {
  const path = name === "whatsapp" ? `twilio/${slug}/whatsapp` : `${name}/${slug}`;
  const secret = hasSecretPath(name, fields) ? `/${fields.webhookSecret ?? ""}` : "";
  return `${publicAddress}/webhooks/${path}${secret}`;
}
