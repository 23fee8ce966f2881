import type { Ctx } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { randomToken } from "../../core/ids.ts";
import { invalid } from "../../http/errors.ts";
import { createAgent, getAgent, NewAgent } from "../agents/index.ts";
import { getWeb, saveWeb } from "./service.ts";

interface Wanted {
  slug: string;
  /** `provider:model`; counts only when the agent is made now. */
  model?: string;
  /** Replace a key that is stored already. */
  newKey?: boolean;
}

/**
 * Makes the agent if it is missing, turns Web on and stores a fresh key unless one is stored. The answered key is null
 * when the stored one stays, since a stored key can't be shown. Throws 400 for an invalid slug or model, 409 for a slug
 * of another organization.
 */
export async function createQuickstartAgent(ctx: Ctx, { slug, model, newKey = false }: Wanted) {
  if (!(await exists(ctx, slug))) {
    const wanted = NewAgent.safeParse({ slug, model });
    if (!wanted.success) throw invalid(wanted.error.issues);
    await createAgent(ctx, wanted.data);
  }
  const web = await getWeb(ctx, slug);
  const key = newKey || !web.config.apiKeyConfigured ? `sk-agent-${randomToken(24)}` : null;
  if (key !== null || !web.enabled) {
    await saveWeb(ctx, slug, { enabled: true, config: key === null ? {} : { apiKey: key } });
  }
  return { slug, key };
}

async function exists(ctx: Ctx, slug: string): Promise<boolean> {
  try {
    await getAgent(ctx, slug);
    return true;
  } catch (error) {
    if (error instanceof EngineError && error.code === "not-found") return false;
    throw error;
  }
}
