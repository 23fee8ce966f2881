import type { Ctx } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import { randomToken } from "../../core/ids.ts";
import { fastModels, type ProviderName, splitModel } from "../../core/models/providers.ts";
import { invalid } from "../../http/errors.ts";
import { AgentChanges, createAgent, getAgent, type Instance, NewAgent, updateAgent } from "../agents/index.ts";
import { getWeb, saveWeb } from "./web/service.ts";

interface QuickstartRequest {
  slug: string;
  /** `provider:model`; absent: the agent's own model, or the installation's default for a new agent. */
  model?: string;
  /** Whether to replace a stored key. */
  newKey?: boolean;
}

/** The agent's model, and the secret that the model's provider needs but lacks. */
export interface Answering {
  provider: ProviderName;
  model: string;
  missing: string | null;
}

export interface QuickstartAgent extends Answering {
  slug: string;
  /** Null when the stored key stays, since it can't be shown. */
  key: string | null;
  fastModel: string | null;
}

/** The agent to create. Throws 400 for an invalid slug or model: call it before anything is created. */
export function quickstartAgent({ slug, model }: QuickstartRequest) {
  const wanted = NewAgent.safeParse({ slug, model });
  if (!wanted.success) throw invalid(wanted.error.issues);
  return wanted.data;
}

/**
 * Creates the agent if it is missing, sets the wanted model (and its provider's fast model, if there is a key), turns
 * Web on, and stores a new key unless one is stored. Throws 400 for an invalid slug or model, 409 for a slug of another
 * organization.
 */
export async function createQuickstartAgent(
  ctx: Ctx,
  asked: QuickstartRequest,
  answeringModel: (slug: string) => Promise<Answering | null>,
): Promise<QuickstartAgent> {
  const { slug, model, newKey = false } = asked;
  const before = await find(ctx, slug);
  if (!before) {
    await createAgent(ctx, quickstartAgent(asked));
  } else if (model !== undefined && !isModelOf(before, model)) {
    const wanted = AgentChanges.safeParse({ model });
    if (!wanted.success) throw invalid(wanted.error.issues);
    await updateAgent(ctx, slug, wanted.data);
  }
  const answering = await answeringModel(slug);
  if (!answering) throw new EngineError("not-found", `The agent ${slug} was deleted meanwhile`);
  const fastModel = await giveFastModel(ctx, slug, answering);
  return { slug, ...answering, fastModel, key: await openWeb(ctx, slug, newKey) };
}

async function find(ctx: Ctx, slug: string): Promise<Instance | null> {
  try {
    return await getAgent(ctx, slug);
  } catch (error) {
    if (error instanceof EngineError && error.code === "not-found") return null;
    throw error;
  }
}

function isModelOf(agent: Instance, wanted: string): boolean {
  const { provider, model } = splitModel(wanted);
  return agent.model === model && (provider === null || agent.provider === provider);
}

const usualFastModels = new Map(
  Object.entries(fastModels).map(([provider, model]) => [provider, `${provider}:${model}`]),
);

/**
 * Keeps a fast model that a person chose. A provider that can't be called gets none, so that no background call fails.
 */
async function giveFastModel(ctx: Ctx, slug: string, { provider, missing }: Answering): Promise<string | null> {
  const { fastModel } = await getAgent(ctx, slug);
  if (fastModel !== null && ![...usualFastModels.values()].includes(fastModel)) return fastModel;
  const usual = missing === null ? (usualFastModels.get(provider) ?? null) : null;
  if (usual !== fastModel) await updateAgent(ctx, slug, { fastModel: usual });
  return usual;
}

/** The agent's new key; null when the stored one stays. */
async function openWeb(ctx: Ctx, slug: string, newKey: boolean): Promise<string | null> {
  const web = await getWeb(ctx, slug);
  const key = newKey || !web.config.apiKeyConfigured ? `sk-agent-${randomToken(24)}` : null;
  if (key !== null || !web.enabled) {
    await saveWeb(ctx, slug, { enabled: true, config: key === null ? {} : { apiKey: key } });
  }
  return key;
}
