import { type AgentBundle, modelColumns } from "../../engine.ts";

type Instance = AgentBundle["instance"];

/**
 * An agent in the form in which two of them can be compared: what the server makes of a field that is left out or has
 * two spellings, in one spelling. Credentials are left out: the server tells only whether it has them.
 */
export function comparable({ secrets: _named, ...instance }: Instance) {
  const { slug, name = slug, provider, model } = instance;
  return {
    ...instance,
    ...modelColumns({ provider, model }),
    name,
    channels: channelTypes.map((type) => channelOf(instance, type)),
    skillEnv: shownVariables(instance),
    hooks: numbered(instance.hooks, "position"),
    eventSources: instance.eventSources.map(({ authKeyConfigured: _secret, definitions, ...source }) => ({
      ...source,
      definitions: numbered(definitions, "priority").map(({ description, matchingPrompt = description, ...rest }) => ({
        ...rest,
        matchingPrompt,
      })),
    })),
  };
}

const channelTypes = ["web", "telegram", "slack", "whatsapp", "agent"] as const;

/** A channel that is missing is off, but for that of other agents. */
function channelOf({ channels }: Pick<Instance, "channels">, channelType: (typeof channelTypes)[number]) {
  const found = channels.find((one) => one.channelType === channelType);
  const config = Object.entries(found?.config ?? {}).filter(([, value]) => !isEmpty(value));
  return { channelType, enabled: found?.enabled ?? channelType === "agent", config: Object.fromEntries(config) };
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** The variables of skills that are not sensitive. */
function shownVariables({ skillEnv }: Pick<Instance, "skillEnv">) {
  const shown = skillEnv.map(({ skillSlug, env }) => {
    const plain = env.filter(({ sensitive }) => !sensitive).map(({ key, value }) => ({ key, value }));
    return { skillSlug, env: plain };
  });
  return shown.filter(({ env }) => env.length > 0);
}

/** Entries without a number stand behind those before them. */
function numbered<Field extends string, Entry extends { [F in Field]?: number | undefined }>(
  entries: readonly Entry[],
  field: Field,
): Entry[] {
  let last = -1;
  return entries.map((entry) => {
    const number = entry[field] ?? last + 1;
    last = Math.max(last, number);
    return { ...entry, [field]: number };
  });
}
