import { eq, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { ToolSource } from "../../../contribution.ts";
import { type ActingAgent, asActing } from "../../../core/activity/activity.ts";
import { openCredentials } from "../../../core/credentials/event-source.ts";
import { s3Places } from "../../../core/files/s3.ts";
import { digest, toHex } from "../../../core/ids.ts";
import { pricesOf } from "../../../core/models/list-prices.ts";
import type { Prices } from "../../../core/models/prices.ts";
import { type Scrub, scrubber } from "../../../core/scrub/scrub.ts";
import type { AgentTracing } from "../../../core/tracing.ts";
import { agentProviders } from "../../../db/agent-providers.ts";
import { actingAgent, agents, eventSources, firstOrganization, organizations, secrets } from "../../../db/schema.ts";
import type { Hook, Tool } from "../../../turn/types.ts";
import { isSlug } from "../../agents/index.ts";
import { type LoadedChannels, loadChannels } from "../../channels/index.ts";
import { asksAgent, loadHooks } from "../../hooks/index.ts";
import { datetimeIn, loadPrompts, type PreparedPrompt, preparePrompt, unfilled } from "../../prompts/index.ts";
import { pricesOfOrganization } from "../../providers/index.ts";
import { openSecrets, plainKeys } from "../../secrets/index.ts";
import { type LoadedSkill, loadSkills, skillsList } from "../../skills/index.ts";
import { embedderFor } from "./embedder.ts";
import { type AgentProviders, openProviders } from "./providers.ts";
import { loadTools } from "./tools.ts";

type AgentRow = typeof agents.$inferSelect;

/** A decrypted copy of an agent and all its settings, valid until the agent's revision changes. */
export interface LiveAgent {
  row: AgentRow;
  organizationSlug: string;
  /** Whether the policy `environmentKeys: first-organization` lets the agent use the environment's keys. */
  inFirstOrganization: boolean;
  secrets: ReadonlyMap<string, string>;
  providers: AgentProviders;
  web: LoadedChannels["web"];
  /** Whether other agents may call this agent: whether its channel `agent` is on. */
  answersAgents: boolean;
  prompt: PreparedPrompt;
  /** Formats a time, in milliseconds since the epoch, for the prompt. */
  datetime: (now: number) => string;
  /** The enabled tools, by their names for models. */
  tools: ReadonlyMap<string, Tool>;
  /** The enabled hooks, in their order. */
  hooks: readonly Hook[];
  /** Null: the agent's turns are not traced. */
  tracing: AgentTracing | null;
  /** The bytes that the system prompt and the tools take in the model's window. */
  fixedBytes: number;
  /** A hash that changes with the prompt, the skills' versions, and the tools as the model sees them. */
  fingerprint: string;
  scrub: Scrub;
  /** Null: what the agent's turns cost is not computed. */
  prices: Prices | null;
  /** The version in the address of the agent's icon; null without an icon. */
  iconVersion: string | null;
}

/** The agent's data for activity. */
export const actingAs = ({ row, iconVersion }: LiveAgent): ActingAgent => asActing({ ...row, iconVersion });

/** An agent with the models of another copy of it: with their keys, prices and scrubber. */
export function withModelsOf(agent: LiveAgent, current: LiveAgent): LiveAgent {
  const { provider, model, fastModel } = current.row;
  const { secrets, providers, inFirstOrganization, prices, scrub } = current;
  const row = { ...agent.row, provider, model, fastModel };
  return { ...agent, row, secrets, providers, inFirstOrganization, prices, scrub };
}

/** Reads an agent by its slug; null for an unknown one. Its tools are those of `loadTools` and of `toolSources`. */
export async function loadAgent(
  services: Services,
  slug: string,
  toolSources: readonly ToolSource[] = [],
): Promise<LiveAgent | null> {
  if (!isSlug(slug)) return null;
  const { database, cipher, agentSecrets, options } = services;
  const [found] = await database.db
    .select({
      row: agents,
      organizationSlug: organizations.slug,
      inFirstOrganization: sql<boolean>`${organizations.id} = (${firstOrganization})`,
      iconVersion: actingAgent.iconVersion,
      ownPrices: pricesOfOrganization,
      stored: agentProviders,
    })
    .from(agents)
    .innerJoin(organizations, eq(organizations.id, agents.organizationId))
    .where(eq(agents.slug, slug));
  if (!found) return null;

  const { row, stored, ownPrices, ...known } = found;
  const { inFirstOrganization, iconVersion } = known;
  const channels = await loadChannels(database.db, cipher, row.id);
  const rows = await database.db.select().from(secrets).where(eq(secrets.agentId, row.id));
  const opened = await openSecrets(cipher, row.id, rows);
  const providers = await openProviders(services, stored);
  const sources = await database.db.select().from(eventSources).where(eq(eventSources.agentId, row.id));
  // Credentials sealed with a lost key can't be in any text, and must not keep the agent from answering.
  const ofSources = await Promise.all(sources.map((source) => openCredentials(cipher, source).catch(() => null)));
  const skills = await loadSkills(database.db, services, { agentId: row.id, workspaceId: row.workspaceId });
  const { served } = skills;
  const hooks = await loadHooks(database.db, row.id);
  const prices = options.edition.has("providers") || hasCostBudget(row) ? pricesOf(ownPrices ?? []) : null;
  const embedder = () => embedderFor(services, { row, secrets: opened, inFirstOrganization, providers, prices });
  const {
    tools,
    find,
    secrets: hidden,
  } = await loadTools(
    services,
    { ...row, iconVersion, secrets: opened },
    { skills, hooks, sources: toolSources, embedder },
  );
  const values = [
    ...secretTexts(opened, plainKeys(services.plugins)),
    ...providers.connections.flatMap(({ apiKey }) => apiKey ?? []),
    ...channels.credentials,
    ...ofSources.flatMap((opened) => (opened ? [opened.webhookToken, opened.authKey ?? ""] : [])),
    ...hidden,
  ];
  const shown = new Set(skills.env.flatMap(({ sensitive, value }) => (sensitive ? [] : [value])));
  const { name, description, timezone } = row;
  const prompts = await loadPrompts(database.db, row.id);
  const prompt = preparePrompt(prompts, { name, description, timezone, skillsList: skillsList(served) });
  return {
    row,
    ...known,
    secrets: opened,
    providers,
    web: channels.web,
    answersAgents: channels.answersAgents,
    prompt,
    datetime: datetimeIn(timezone),
    tools,
    // Imports of an earlier release accepted hooks that call agents: such hooks get no tool.
    hooks: hooks.map((hook) => ({ ...hook, tool: asksAgent(hook.toolName) ? null : find(hook.toolName) })),
    tracing: row.tracingEnabled ? { apiKey: opened.get("tracing_api_key"), project: row.tracingProject } : null,
    ...(await describe(prompt(unfilled).text, served, tools)),
    prices,
    scrub: scrubber([...agentSecrets.serve(row.id, values, shown), ...secretTexts(options.environmentKeys)]),
  };
}

/** Whether a budget of money holds for the agent; budgets stay in force without the feature that sets them. */
const hasCostBudget = ({ monthlyCostBudget, userMonthlyCostBudget }: AgentRow) =>
  monthlyCostBudget !== null || userMonthlyCostBudget !== null;

/** Measures the fixed part of every prompt, with the tools, and makes its fingerprint. */
async function describe(
  prompt: string,
  skills: readonly LoadedSkill[],
  tools: ReadonlyMap<string, Tool>,
): Promise<Pick<LiveAgent, "fingerprint" | "fixedBytes">> {
  const versions = skills.map(({ slug, version }) => [slug, version]);
  const offered = [...tools].map(([name, { description, inputSchema }]) => [name, description, inputSchema]);
  const fingerprint = toHex(await digest(JSON.stringify([prompt, versions, offered]))).slice(0, 16);
  return { fingerprint, fixedBytes: new TextEncoder().encode(prompt + JSON.stringify(offered)).byteLength };
}

/**
 * The texts that no reply may contain: the values of secrets, except those whose keys are in `plain`. Of a base URL
 * only user and password count: ordinary replies contain the rest of a URL, and scrubbing would remove it.
 */
export function secretTexts(secrets: ReadonlyMap<string, string>, plain: ReadonlySet<string> = s3Places): string[] {
  return [...secrets].flatMap(([key, value]) => {
    if (plain.has(key)) return [];
    // The secret key of the pair is also secret without the public key.
    if (key === "tracing_api_key") return [value, ...value.split(":")];
    return key.endsWith("_base_url") ? credentialsIn(value) : [value];
  });
}

/** User and password of a URL, encoded and decoded; the whole value when it is no URL. */
function credentialsIn(address: string): string[] {
  const url = URL.parse(address);
  if (!url) return [address];
  return [url.username, url.password].flatMap((part) => [part, decoded(part)]);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
