import { createRoute, OpenAPIHono, type RouteConfig, type z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import type { Ctx } from "../context/ctx.ts";
import { requirePermission } from "../context/membership.ts";
import { requireStanding, requireToken } from "../context/standing.ts";
import type { Permission } from "../core/credentials/permissions.ts";
import { type Feature, requireFeature } from "../core/edition.ts";
import { EngineError } from "../core/errors.ts";
import "../core/validation.ts";
import { holdBody, limitBody, maxBodyBytes } from "./body.ts";
import { clientKey } from "./callers/address.ts";
import { authenticate } from "./callers/authentication.ts";
import { requireOneOrganization, requireOrganization, requireSession } from "./callers/restrictions.ts";
import type { AppEnv } from "./environment.ts";
import { type ErrorStatus, errorAnswer } from "./error-answers.ts";
import { invalid } from "./errors.ts";
import { noRoute } from "./paths.ts";

const whichOrganization =
  "Of several organizations a request means the one in its path, else the one whose slug is in the header `X-Organization`, else the one chosen with `PUT /api/me/organization`, else the one joined first.";

/** The three security schemes (spec "Authentication" 1). Each of them is enough. */
export const securitySchemes = {
  managementApiKey: { type: "http", scheme: "bearer", description: "A management key, `aek_…`, of one organization." },
  sessionCookie: {
    type: "apiKey",
    in: "cookie",
    name: "agent_engine.session_token",
    description: `The cookie of a sign-in. ${whichOrganization}`,
  },
  sessionBearer: { type: "http", scheme: "bearer", description: `The token of a sign-in. ${whichOrganization}` },
} as const;

/** A group of routes. A failed validation becomes the 400 of decisions §3. */
export function router(): OpenAPIHono<AppEnv> {
  return new OpenAPIHono<AppEnv>({
    defaultHook: (result) => {
      if (!result.success) throw invalid(result.error.issues);
    },
  });
}

/** A response in JSON, as routes declare it. */
export function json<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { description, content: { "application/json": { schema } } };
}

/** A required body in JSON, as routes declare it. */
export const jsonBody = <Schema extends z.ZodType>(schema: Schema) => ({
  required: true,
  content: { "application/json": { schema } },
});

/** The error responses with these statuses, as routes declare them. */
export function errorAnswers<Status extends ErrorStatus>(...statuses: readonly Status[]) {
  return Object.fromEntries(statuses.map((status) => [status, errorAnswer(status)])) as Record<
    Status,
    ReturnType<typeof errorAnswer>
  >;
}

type RouteDeclaration = RouteConfig & { operationId: string; tags: string[]; summary: string };

interface OpenOptions {
  /** The feature of the managed edition that the route belongs to; absent for a route of both editions. */
  feature?: Feature;
}

interface GuardOptions extends OpenOptions {
  /** Whether only signed-in people may call the route, or which calls are theirs alone; other credentials get the 403. */
  sessionOnly?: boolean | ((ctx: Ctx) => boolean);
  /** Whether personal tokens that work across organizations get the 403. Routes for sessions alone refuse them anyway. */
  oneOrganization?: boolean;
  /** Whether the route is about the whole installation: the caller needs the permission in the first organization. */
  installation?: boolean;
  /** Whether the policy `rateLimit` does not apply. */
  unlimited?: boolean;
  /** The most bytes of the body, which is read only after the caller is authenticated. */
  bodyLimit?: number;
}

/**
 * The 404 of an organization that the caller can't reach: every route for sessions or management keys accepts the
 * header `X-Organization`.
 */
export const notTheirs = errorAnswer(404, {
  description: "The header `X-Organization` names an organization that the caller does not belong to.",
  message: "Organization not found",
});

/**
 * Every management route is declared by this function. It authenticates the caller, checks the permission before
 * validating the request and again after reading its body, and documents both (spec "Authentication" 1). With the
 * permission `null` a session is enough.
 */
export function guarded<const Route extends RouteDeclaration>(
  permission: Permission | null,
  route: Route,
  {
    sessionOnly = permission === null,
    installation = false,
    oneOrganization = false,
    unlimited = false,
    bodyLimit = maxBodyBytes,
    feature,
  }: GuardOptions = {},
) {
  const guard = createMiddleware<AppEnv>(async (c, next) => {
    const share = ["management", "", clientKey(c.get("ip"))] as const;
    const ctx = await c.get("services").admission.during(share, () => authenticate(c, { installation, unlimited }));
    // Set before the checks, so that a refusal is recorded under the caller's name.
    c.set("ctx", ctx);
    if (feature) requireFeature(ctx.options.edition, feature);
    if (typeof sessionOnly === "function" ? sessionOnly(ctx) : sessionOnly) requireSession(ctx.actor);
    if (oneOrganization) requireOneOrganization(ctx.actor);
    if (permission) {
      requireOrganization(ctx);
      requirePermission(ctx.membership, permission);
    }
    // No proxy may store the response to one caller. A handler may allow it.
    c.header("Cache-Control", "no-store");
    await limitBody(c, bodyLimit);
    await next();
  });
  // Routes for any session also serve people without an organization.
  const requireStill = permission === null ? requireToken : requireStanding;
  // Checked again here: a body may arrive long after its head was admitted, and not every handler writes.
  const readBody = createMiddleware<AppEnv>(async (c, next) => {
    await c.req.arrayBuffer();
    await requireStill(c.get("ctx").db, c.get("ctx"));
    await next();
  });
  return createRoute({
    ...route,
    middleware: [guard, checkContentType(route), ...(route.request?.body ? [readBody] : [])],
    security: (sessionOnly === true ? ["sessionCookie", "sessionBearer"] : Object.keys(securitySchemes)).map(
      (scheme) => ({
        [scheme]: [],
      }),
    ),
    ...(permission ? { "x-permission": permission } : {}),
    ...ofFeature(feature),
    responses: {
      ...errorAnswers(400, 401, 403, 429, 503),
      404: notTheirs,
      ...bodyAnswers(route),
      ...route.responses,
    },
  });
}

/** The most bytes of a body on a route without authentication: enough for a form. */
const strangersBodyBytes = 64 * 1024;

/** The field of the document by which a route is known as one of the managed edition (`isManaged`). */
const ofFeature = (feature: Feature | undefined) => (feature ? { "x-feature": feature } : {});

/** Whether the route exists in the managed edition only. */
export const isManaged = (route: RouteConfig) => "x-feature" in route;

/** Declares a route that needs no authentication. */
export function unguarded<const Route extends RouteDeclaration>(route: Route, { feature }: OpenOptions = {}) {
  const bound = createMiddleware<AppEnv>(async (c, next) => {
    if (feature) requireFeature(c.var.services.options.edition, feature);
    const held = holdBody(c);
    try {
      await limitBody(c, strangersBodyBytes, held.grow);
      await next();
    } finally {
      held.end();
    }
  });
  const refusals: Record<never, never> = feature ? errorAnswers(403) : {};
  const answers = { ...refusals, ...bodyAnswers(route) };
  return openTo({ ...route, ...ofFeature(feature) }, [bound, checkContentType(route)], answers);
}

/**
 * Declares a route that another service calls, with any content type. Its handler reads the body within limits
 * (`readBody`), and authenticates the caller by the head and the bytes of the body. With its feature off it is a 404.
 */
export function webhook<const Route extends RouteDeclaration>(route: Route, { feature }: OpenOptions = {}) {
  const requireIt = createMiddleware<AppEnv>(async (c, next) => {
    if (feature && !c.var.services.options.edition.has(feature)) throw noRoute(c.req.path);
    await next();
  });
  const answers: Record<never, never> = feature ? errorAnswers(404) : {};
  return openTo({ ...route, ...ofFeature(feature) }, feature ? [requireIt] : [], answers);
}

function openTo<const Route extends RouteDeclaration>(
  route: Route,
  middleware: MiddlewareHandler<AppEnv>[],
  responses: Record<never, never>,
) {
  return createRoute({
    ...route,
    middleware,
    security: [],
    responses: { ...errorAnswers(503), ...responses, ...route.responses },
  });
}

/** Whether the body must be JSON. A handler for several content types tells them apart itself. */
function wantsJson({ request }: RouteDeclaration): boolean {
  return Object.keys(request?.body?.content ?? {}).join() === "application/json";
}

/** JSON and types based on it, such as `application/ld+json`, with any parameters. */
const jsonType = /^application\/([\w.-]+\+)?json\s*(;|$)/i;
const usualType = /^application\/json(; ?charset=utf-8)?$/i;

/**
 * Throws the 415 for a body of another type. The validator would take such a body, or one without a type, for an empty
 * object. Normalizes legal spellings that the validator refuses (RFC 9110 §8.3.1), such as a space before the `;`.
 */
function checkContentType(route: RouteDeclaration) {
  const wanted = wantsJson(route);
  const optional = route.request?.body?.required !== true;
  return createMiddleware<AppEnv>(async (c, next) => {
    if (wanted && optional) await fillEmptyBody(c);
    const type = c.req.header("Content-Type") ?? "";
    if (wanted && !usualType.test(type)) {
      if (!jsonType.test(type)) {
        throw new EngineError("unsupported-media-type", "Content-Type must be application/json");
      }
      const headers = new Headers(c.req.raw.headers);
      headers.set("Content-Type", "application/json");
      c.req.raw = new Request(c.req.raw, { headers });
    }
    await next();
  });
}

/** Replaces an empty body by an empty object, whatever its type, for routes with an optional body. */
async function fillEmptyBody(c: Context<AppEnv>): Promise<void> {
  const sent = await c.req.raw.text();
  const headers = new Headers(c.req.raw.headers);
  if (sent === "") headers.set("Content-Type", "application/json");
  c.req.raw = new Request(c.req.raw, { headers, body: sent || "{}" });
}

/** The 413 and 415 responses of all routes that take JSON. Handlers' types lack them: middleware sends them. */
function bodyAnswers(route: RouteDeclaration): Record<never, never> {
  return wantsJson(route) ? errorAnswers(413, 415) : {};
}
