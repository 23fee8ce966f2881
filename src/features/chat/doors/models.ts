import { and, eq, inArray } from "drizzle-orm";
import type { Context } from "hono";
import type { Ctx } from "../../../context/ctx.ts";
import { requirePermission } from "../../../context/membership.ts";
import { EngineError } from "../../../core/errors.ts";
import { agents, channels, organizations } from "../../../db/schema.ts";
import { authenticateSession, offersSession } from "../../../http/callers/authentication.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { openWebConfig } from "../../channels/index.ts";
import { bearer, invalidKey } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import { countRefusal, mayLookUp, requireTrusted } from "../request/agent-key.ts";
import { answerOrigin } from "../request/cors.ts";
import { RequestThrottle } from "../request/throttle.ts";

/**
 * The agents that a caller may use as `model` (spec, "GET /v1/models"): with an agent's key, that agent, while its Web
 * channel is on; with a session, the reachable active agents. Throws 401, also for a management key, 403 and 429.
 */
export async function listModels(c: Context<AppEnv>, chat: Chat) {
  const listed = offersSession(c) ? await reachable(await authenticateSession(c)) : await ofKey(c, chat);
  const data = listed.map(({ slug, createdAt, organizationSlug }) => ({
    id: slug,
    object: "model" as const,
    created: Math.floor(createdAt.getTime() / 1000),
    owned_by: organizationSlug,
  }));
  return { object: "list" as const, data };
}

/** One agent of `listModels`. Throws the same errors, and the 404 of chat. */
export async function findModel(c: Context<AppEnv>, chat: Chat, id: string) {
  const model = (await listModels(c, chat)).data.find((listed) => listed.id === id);
  if (!model) throw new EngineError("not-found", "Unknown model");
  return model;
}

const columns = { slug: agents.slug, createdAt: agents.createdAt, organizationSlug: organizations.slug };

async function reachable(ctx: Ctx) {
  requirePermission(ctx.membership, "agent:read");
  const workspaceIds = ctx.membership.workspaceIds;
  return ctx.db
    .select(columns)
    .from(agents)
    .innerJoin(organizations, eq(organizations.id, agents.organizationId))
    .where(
      and(
        eq(agents.organizationId, ctx.membership.organizationId),
        eq(agents.active, true),
        workspaceIds ? inArray(agents.workspaceId, [...workspaceIds]) : undefined,
      ),
    )
    .orderBy(agents.slug);
}

/** The agent of a key. Counts the request as one with that key. */
async function ofKey(c: Context<AppEnv>, chat: Chat) {
  const holder = await admitHolder(c, chat);
  const throttle = new RequestThrottle(c, chat, "caller");
  throttle.limitCaller(holder.id);
  await throttle.count();
  return holder.row.active && holder.web.enabled ? [holder] : [];
}

/** The agent of a key. Pages of the agent's origins may read its 429s too; no page may read the refusals of other keys. */
async function admitHolder(c: Context<AppEnv>, chat: Chat) {
  try {
    const holder = await keyHolder(c, chat);
    answerOrigin(c, holder);
    requireTrusted(c, chat, holder);
    return holder;
  } catch (refusal) {
    countRefusal(c, refusal);
    throw refusal;
  }
}

async function keyHolder(c: Context<AppEnv>, chat: Chat) {
  const { cipher, database } = chat.services;
  const key = bearer(c.req.header("Authorization"));
  if (key === null) throw new EngineError("unauthorized", "Missing Bearer token");
  const marks = await cipher.fingerprints(key);
  if (!mayLookUp(c, chat, marks)) throw invalidKey(null);
  const [found] = await database.db
    .select({ ...columns, id: agents.id, authKeyHmac: agents.authKeyHmac, active: agents.active, web: channels })
    .from(agents)
    .innerJoin(organizations, eq(organizations.id, agents.organizationId))
    .leftJoin(channels, and(eq(channels.agentId, agents.id), eq(channels.type, "web")))
    .where(inArray(agents.authKeyHmac, marks));
  if (!found) throw invalidKey(null);
  const { active, web, ...holder } = found;
  const config = await openWebConfig(cipher, found.id, web);
  return { ...holder, row: { active }, web: { ...config, enabled: web?.enabled ?? false } };
}
