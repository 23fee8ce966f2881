import { and, eq, inArray } from "drizzle-orm";
import type { Context } from "hono";
import { type Ctx, requirePermission, type Services, workspaceScope } from "../../../context.ts";
import { EngineError } from "../../../core/errors.ts";
import { agents, channels, organizations } from "../../../db/schema.ts";
import { authenticateSession, offersSession } from "../../../http/authentication.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { bearer } from "../../turns/index.ts";

/**
 * The agents that a caller may name as `model` (spec, "GET /v1/models"): with an agent's key that agent, while its Web
 * channel is on; with a session the active agents within reach. Throws 401, also for a management key, and 403.
 */
export async function listModels(c: Context<AppEnv>) {
  const listed = offersSession(c) ? await reachable(await authenticateSession(c)) : await keyHolder(c);
  const data = listed.map(({ slug, createdAt, organizationSlug }) => ({
    id: slug,
    object: "model" as const,
    created: Math.floor(createdAt.getTime() / 1000),
    owned_by: organizationSlug,
  }));
  return { object: "list" as const, data };
}

const columns = { slug: agents.slug, createdAt: agents.createdAt, organizationSlug: organizations.slug };

async function reachable(ctx: Ctx) {
  requirePermission(ctx.membership, "agent:read");
  const workspaceIds = workspaceScope(ctx.membership);
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

async function keyHolder(c: Context<AppEnv>) {
  const { cipher, database }: Services = c.var.services;
  const key = bearer(c.req.header("Authorization"));
  if (key === null) throw new EngineError("unauthorized", "Missing Bearer token");
  const [holder] = await database.db
    .select({ ...columns, active: agents.active, web: channels.enabled })
    .from(agents)
    .innerJoin(organizations, eq(organizations.id, agents.organizationId))
    .leftJoin(channels, and(eq(channels.agentId, agents.id), eq(channels.type, "web")))
    .where(inArray(agents.authKeyHmac, await cipher.fingerprints(key)));
  if (!holder) throw new EngineError("unauthorized", "Invalid API key");
  return holder.active && holder.web ? [holder] : [];
}
