import { and, eq } from "drizzle-orm";
import type { Context, MiddlewareHandler } from "hono";
import { type Actor, isAdministered } from "../../context/ctx.ts";
import { tokenKind } from "../../core/credentials/tokens.ts";
import { EngineError } from "../../core/errors.ts";
import { digest } from "../../core/ids.ts";
import { accessTokens } from "../../db/schema.ts";
import { liveToken } from "../../db/standing.ts";
import type { AppEnv } from "../environment.ts";
import { clientKey } from "./address.ts";
import { authenticate } from "./authentication.ts";

/** The path that ends an impersonation: the only one that it may POST to. */
export const stopImpersonatingPath = "/api/auth/stop-impersonating";

const readOnly = () => new EngineError("forbidden", "Impersonation is read-only");

/**
 * Refuses every request of an impersonation that is neither GET nor HEAD, before the route is known: a route of tomorrow
 * is refused without a check of its own (managed M5). Throws the 403, and the errors of `authenticate`.
 */
export const refuseImpersonatedWrites: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { method, path } = c.req;
  const isRead = method === "GET" || method === "HEAD";
  if (!isRead && path !== stopImpersonatingPath && (await isImpersonated(c))) {
    const share = ["management", "", clientKey(c.get("ip"))] as const;
    // Its refusal is recorded with the caller, whom this finds. The route, and so its organization, is not known yet.
    const address = /^\/api\/organizations\/([a-z0-9-]+)/.exec(path)?.[1] ?? null;
    const ctx = await c.get("services").admission.during(share, () =>
      authenticate(c, { address }).catch((error: unknown) => {
        throw error instanceof EngineError && error.code === "not-found" ? readOnly() : error;
      }),
    );
    c.set("ctx", ctx);
    throw readOnly();
  }
  await next();
};

/** Whether the request has a live impersonation. An agent's stored key may begin like one, and goes on working. */
async function isImpersonated(c: Context<AppEnv>): Promise<boolean> {
  const token = /^Bearer +(\S+)/i.exec(c.req.header("Authorization") ?? "")?.[1];
  if (token === undefined || tokenKind(token) !== "impersonation") return false;
  const services = c.get("services");
  const now = new Date(services.clock.now());
  const [found] = await services.database.db
    .select({ id: accessTokens.id })
    .from(accessTokens)
    .where(
      and(
        eq(accessTokens.digest, await digest(token)),
        eq(accessTokens.kind, "impersonation"),
        liveToken(accessTokens, now, isAdministered(services)),
      ),
    );
  return found !== undefined;
}

/** Throws the 403 for an impersonation, on a route that reads what only the person in person may follow. */
export function requireInPerson(actor: Actor): void {
  if (actor.type === "user" && actor.impersonator) throw readOnly();
}
