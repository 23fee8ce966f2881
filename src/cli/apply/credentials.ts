import type { AgentEngine } from "../../client/index.ts";
import type { AgentBundle } from "../../engine.ts";
import type { AgentFile } from "../files/read-agent.ts";
import { isFields, isOpen, type Reference } from "../files/references.ts";
import type { FieldChange } from "./compare.ts";

type Instance = AgentBundle["instance"];
type Environment = Readonly<Record<string, string | undefined>>;

/** A credential that the server lacks, or stores with another value. */
export interface DueCredential {
  reference: Reference;
  change: FieldChange;
}

/** The masked settings of an agent's channels, by type; empty for a new agent. */
export async function readMasks(api: AgentEngine, { slug, references }: AgentFile): Promise<Masks> {
  if (!references.some(({ to }) => to.kind === "channel")) return new Map();
  const { channels } = await api.listAgentChannels({ slug });
  return new Map(channels.map(({ channelType, config }) => [channelType, isFields(config) ? config : {}]));
}

type Masks = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** The credentials to store: new ones, and changed ones if the server shows that they changed. */
export function dueCredentials(
  { references }: AgentFile,
  now: Instance | null,
  masks: Masks,
  environment: Environment,
): DueCredential[] {
  return references.flatMap((reference) => {
    // A variable that may be read is compared together with the rest of the bundle.
    if (isOpen(reference)) return [];
    const after = `from ${reference.variable}`;
    const path = pathOf(reference);
    const { to } = reference;
    if (to.kind === "channel") {
      const mask = masks.get(to.channelType)?.[to.field];
      const value = environment[reference.variable];
      if (typeof mask !== "string" || mask === "") return [{ reference, change: { path, after } }];
      const isSame = value === undefined || mask === `••••${value.trim().slice(-4)}`;
      return isSame ? [] : [{ reference, change: { path, before: mask, after } }];
    }
    return now && isStored(now, to) ? [] : [{ reference, change: { path, after } }];
  });
}

function isStored(now: Instance, to: Exclude<Reference["to"], { kind: "channel" }>): boolean {
  if (to.kind === "secret") return now.secrets.some(({ key, configured }) => key === to.key && configured);
  if (to.kind === "eventSource") {
    return now.eventSources.some(({ name, authKeyConfigured }) => name === to.name && authKeyConfigured);
  }
  const skill = now.skillEnv.find(({ skillSlug }) => skillSlug === to.skillSlug);
  return skill?.env.some(({ key, configured }) => key === to.key && configured) ?? false;
}

/** The path of the field in the file that names the variable of a credential. */
function pathOf({ to }: Reference): string {
  switch (to.kind) {
    case "secret":
      return `secrets[${to.key}]`;
    case "skillEnv":
      return `skillEnv[${to.skillSlug}].env[${to.key}]`;
    case "channel":
      return `channels[${to.channelType}].config.${to.field}`;
    case "eventSource":
      return `eventSources[${to.name}].authKey`;
  }
}

/**
 * Stores the credentials of an agent. All secrets and variables are sent, since the server ignores unchanged ones.
 * Channels and event sources get only credentials that are due, since each save restarts a channel.
 */
export async function storeCredentials(
  api: AgentEngine,
  agent: AgentFile,
  due: readonly DueCredential[],
  environment: Environment,
): Promise<void> {
  const { slug, references } = agent;
  const textOf = ({ variable }: Reference) => environment[variable] ?? "";
  const secrets = references.flatMap((one) =>
    one.to.kind === "secret" ? [{ key: one.to.key, value: textOf(one) }] : [],
  );
  for (const some of inCalls(secrets)) await api.putAgentSecrets({ slug, body: { secrets: some } });
  for (const [skillSlug, list] of bySkill(references)) {
    const env = list.map(({ key, reference }) => ({ key, value: textOf(reference), sensitive: true }));
    for (const some of inCalls(env)) await api.putSkillEnv({ slug, skillSlug, body: { env: some } });
  }
  for (const [type, list] of byChannel(due)) {
    const config = Object.fromEntries(list.map(({ field, reference }) => [field, textOf(reference)]));
    const enabled = agent.instance.channels.find(({ channelType }) => channelType === type)?.enabled ?? false;
    await api.putAgentChannel({ slug, type, body: { config, enabled } });
  }
  const keys = due.flatMap(({ reference }) => (reference.to.kind === "eventSource" ? [reference] : []));
  if (keys.length > 0) await storeSourceKeys(api, slug, keys, textOf);
}

/** The most secrets or variables in one request. */
const mostInCall = 64;

function inCalls<Item>(items: readonly Item[]): Item[][] {
  const calls = Array.from({ length: Math.ceil(items.length / mostInCall) }, (_, call) => call * mostInCall);
  return calls.map((from) => items.slice(from, from + mostInCall));
}

async function storeSourceKeys(
  api: AgentEngine,
  slug: string,
  keys: readonly Reference[],
  textOf: (reference: Reference) => string,
): Promise<void> {
  const sources = await api.listEventSources({ slug });
  for (const reference of keys) {
    const source = sources.find(({ name }) => reference.to.kind === "eventSource" && name === reference.to.name);
    if (source) await api.updateEventSource({ slug, id: source.id, body: { authKey: textOf(reference) } });
  }
}

function bySkill(references: readonly Reference[]) {
  const found = references.flatMap((reference) =>
    reference.to.kind === "skillEnv" && reference.to.sensitive ? [{ ...reference.to, reference }] : [],
  );
  return Map.groupBy(found, ({ skillSlug }) => skillSlug);
}

function byChannel(due: readonly DueCredential[]) {
  const found = due.flatMap(({ reference }) =>
    reference.to.kind === "channel" ? [{ ...reference.to, reference }] : [],
  );
  return Map.groupBy(found, ({ channelType }) => channelType);
}
