import type { Ctx } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { randomToken } from "../../core/ids.ts";
import { invalid } from "../../http/errors.ts";
import { createAgent, getAgent, NewAgent } from "../agents/index.ts";
import { getWeb, saveWeb } from "./web.ts";

interface Wanted {
  slug: string;
  /** `provider:model`, for an agent that is made now. */
  model?: string;
  /** Replace a key that is stored already. */
  newKey?: boolean;
}

/**
 * An agent that answers: made if it is missing, Web on, with a fresh key unless one is stored. The key is null when one
 * was stored before, since that one can't be shown again. Throws 400 for a slug or a model that can't be one, 409 when the slug is another organization's.
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
