import { createRoute, OpenAPIHono, type RouteConfig, type z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { requireInstallationPermission, requirePermission } from "../context.ts";
import { EngineError } from "../core/errors.ts";
import type { Permission } from "../core/permissions.ts";
import { authenticate, requireSession } from "./authentication.ts";
import { limitBody, maxBodyBytes } from "./body.ts";
import type { AppEnv } from "./environment.ts";
import { ErrorBody, invalid } from "./errors.ts";

/** The three schemes of the spec, "Authentication" 1; any one of them will do. */
export const securitySchemes = {
  managementApiKey: { type: "http", scheme: "bearer", description: "A management key, `aek_…`." },
  sessionCookie: { type: "apiKey", in: "cookie", name: "agent_engine.session_token" },
  sessionBearer: { type: "http", scheme: "bearer", description: "The token of a sign-in." },
} as const;

/** A group of routes whose failed validation is our 400. */
export function router(): OpenAPIHono<AppEnv> {
  return new OpenAPIHono<AppEnv>({
    defaultHook: (result) => {
      if (!result.success) throw invalid(result.error.issues);
    },
  });
}

/** `application/json` with a schema, in the form that routes declare bodies and answers in. */
export function json<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { description, content: { "application/json": { schema } } };
}

export const jsonBody = <Schema extends z.ZodType>(schema: Schema) => ({
  required: true,
  content: { "application/json": { schema } },
});

const errorAnswer = (description: string) => json(ErrorBody, description);

/** The error answers with these statuses, described, for routes that can give them. */
export function errorAnswers<Status extends keyof typeof descriptions>(...statuses: readonly Status[]) {
  return Object.fromEntries(statuses.map((status) => [status, errorAnswer(descriptions[status])])) as Record<
    Status,
    ReturnType<typeof errorAnswer>
  >;
}

const descriptions = {
  400: "The request is not valid; `issues` names each field.",
  401: "No valid credentials.",
  403: "The caller lacks the permission.",
  404: "No such thing, or not within the caller's reach.",
  409: "It collides with what is there.",
  412: "`If-Match` names an older revision.",
  413: "The body is too large.",
  415: "The content type is not accepted.",
  422: "The same key came with another body.",
  429: "Rate limit exceeded; `Retry-After` says when to come back.",
  502: "The model provider failed.",
  503: "The server is stopping or its database is away.",
  504: "The model provider did not answer in time.",
} as const;

type Declared = RouteConfig & { operationId: string; tags: string[]; summary: string };

interface GuardOptions {
  /** Management keys are refused with 403: only a signed-in person may do this. */
  sessionOnly?: boolean;
  /** It concerns the whole installation: the permission has to be held in the first organization. */
  installation?: boolean;
  /** Bytes that the body may have. It is read once the caller is known to be allowed. */
  bodyLimit?: number;
}

/**
 * The only way to declare a management route: authenticates the caller, checks the permission before anything of the
 * request is validated, and writes both into the document (spec "Authentication" 1). `null` asks for a session alone.
 */
export function guarded<const Route extends Declared>(
  permission: Permission | null,
  route: Route,
  { sessionOnly = permission === null, installation = false, bodyLimit = maxBodyBytes }: GuardOptions = {},
) {
  const require = installation ? requireInstallationPermission : requirePermission;
  const guard = createMiddleware<AppEnv>(async (c, next) => {
    const ctx = await authenticate(c, { installation });
    if (sessionOnly) requireSession(ctx.actor);
    if (permission) require(ctx.membership, permission);
    c.set("ctx", ctx);
    // No proxy may keep what one caller was shown; a handler may say otherwise.
    c.header("Cache-Control", "no-store");
    await limitBody(c, bodyLimit);
    await next();
  });
  return createRoute({
    ...route,
    middleware: [guard, checkContentType(route)],
    security: (sessionOnly ? ["sessionCookie", "sessionBearer"] : Object.keys(securitySchemes)).map((scheme) => ({
      [scheme]: [],
    })),
    ...(permission ? { "x-permission": permission } : {}),
    responses: { ...errorAnswers(400, 401, 403, 429), ...bodyAnswers(route), ...route.responses },
  });
}

/** What strangers may send: a form, not a document. */
const strangersBodyBytes = 64 * 1024;

/** Declares a route that anybody may call. */
export function unguarded<const Route extends Declared>(route: Route) {
  const bound = createMiddleware<AppEnv>(async (c, next) => {
    await limitBody(c, strangersBodyBytes);
    await next();
  });
  return createRoute({
    ...route,
    middleware: [bound, checkContentType(route)],
    security: [],
    responses: { ...bodyAnswers(route), ...route.responses },
  });
}

/** Whether nothing but JSON will do; a body in several forms is its handler's to tell apart. */
function wantsJson({ request }: Declared): boolean {
  return Object.keys(request?.body?.content ?? {}).join() === "application/json";
}

/** JSON and what is written as it, such as `application/ld+json`, with any parameters. */
const jsonType = /^application\/([\w.-]+\+)?json\s*(;|$)/i;
const usualType = /^application\/json(; ?charset=utf-8)?$/i;

/**
 * Without this the validator takes a body of another type, or without one, for an empty object. It refuses legal
 * spellings too (RFC 9110 §8.3.1), a space before the `;` for one: it gets to see the plain one.
 */
function checkContentType(route: Declared) {
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

/** Where a body may be left out, an empty one is left out, whatever type it is said to have. */
async function fillEmptyBody(c: Context<AppEnv>): Promise<void> {
  const sent = await c.req.raw.text();
  const headers = new Headers(c.req.raw.headers);
  if (sent === "") headers.set("Content-Type", "application/json");
  c.req.raw = new Request(c.req.raw, { headers, body: sent || "{}" });
}

/** What every route that takes JSON may answer. They are the engine's to give, so handlers' types leave them out. */
function bodyAnswers(route: Declared): Record<never, never> {
  return wantsJson(route) ? errorAnswers(413, 415) : {};
}
