import { type AgentBundle, isDefaultPrompt, modelColumns, placeDefinitions, placeHooks } from "../../engine.ts";

type Instance = AgentBundle["instance"];

/**
 * An agent in a form that can be compared: absent fields and alternative spellings are as the server would return them.
 * Credentials are removed, since the server shows only whether it has them.
 */
export function comparable({ secrets: _named, ...instance }: Instance) {
  const { slug, name = slug, provider, model } = instance;
  return {
    ...instance,
    ...modelColumns({ provider, model }),
    name,
    channels: channelTypes.map((type) => channelOf(instance, type)),
    skillEnv: shownVariables(instance),
    prompts: instance.prompts.filter((section) => !isDefaultPrompt(section)),
    hooks: placeHooks(instance.hooks),
    eventSources: instance.eventSources.map(({ authKeyConfigured: _secret, definitions, ...source }) => ({
      ...source,
      definitions: placeDefinitions(definitions),
    })),
  };
}

const channelTypes = ["web", "telegram", "slack", "whatsapp", "agent"] as const;

/** A missing channel counts as off, except `agent`, which counts as on. */
function channelOf({ channels }: Pick<Instance, "channels">, channelType: (typeof channelTypes)[number]) {
  const found = channels.find((one) => one.channelType === channelType);
  const config = Object.entries(found?.config ?? {}).filter(([, value]) => !isEmpty(value));
  return { channelType, enabled: found?.enabled ?? channelType === "agent", config: Object.fromEntries(config) };
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** The skills' variables that are not sensitive. */
function shownVariables({ skillEnv }: Pick<Instance, "skillEnv">) {
  const shown = skillEnv.map(({ skillSlug, env }) => {
    const plain = env.filter(({ sensitive }) => !sensitive).map(({ key, value }) => ({ key, value }));
    return { skillSlug, env: plain };
  });
  return shown.filter(({ env }) => env.length > 0);
}
