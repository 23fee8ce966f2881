import { eq } from "drizzle-orm";
import type { Context } from "hono";
import type { Actor, Ctx, Services, UserActor } from "../../context/ctx.ts";
import { type Membership, membershipIn } from "../../context/membership.ts";
import { unknownToken } from "../../context/standing.ts";
import { ownerStanding } from "../../core/credentials/rights.ts";
import { sessionSeconds, type TokenKind, tokenKind } from "../../core/credentials/tokens.ts";
import { openEdition } from "../../core/edition.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { digest } from "../../core/ids.ts";
import { judge, type Limit, policyLimit, requireAllowed } from "../../core/limits/throttle.ts";
import { accessTokens } from "../../db/schema.ts";
import { throttleValues } from "../../db/throttle.ts";
import type { AppEnv } from "../environment.ts";
import { limitHeaders } from "../errors.ts";
import { clientKey } from "./address.ts";
import { recordUse } from "./audit-access.ts";
import { readSessionCookie, setSessionCookie } from "./cookie.ts";
import { rewriteLegacyKey } from "./legacy-key.ts";
import { type Caller, lookup } from "./lookup.ts";
import { requireOwnOrigin } from "./origin.ts";
import { countRefused, strangerKey } from "./refused.ts";
import { isAcrossOrganizations } from "./restrictions.ts";

/** In milliseconds. A token's use is stored at most this often, so that most guarded requests only read. */
const refreshMs = 60 * 60 * 1000;

interface Credential {
  token: string;
  kind: TokenKind;
  /** Whether the token came from the cookie, which browsers also send with requests of other sites' pages. */
  ambient: boolean;
}

const leastInstallationCalls = 60;

/** The membership of a signed-in user without any organization: no permissions, and an id that no row has. */
const nowhere = membershipIn(
  { organizationId: "00000000-0000-0000-0000-000000000000", organizationSlug: "", first: false },
  { ...ownerStanding, role: null },
  openEdition,
);

interface Addressing {
  /** The slug of the organization; absent: that of the route's path, else of `X-Organization`. */
  address?: string | null;
  /** Whether a request that names no organization is for the first one instead of the caller's active one. */
  installation?: boolean;
  /** Whether the policy `rateLimit` does not limit known callers (decisions §11). Unknown tokens always count. */
  unlimited?: boolean;
}

/**
 * Finds the caller and the request's organization, and counts the request, in one query. Throws the 401s, the 429 of
 * the policy `rateLimit`, the 403 for a cookie that a foreign page sent, and the 404 for an organization that the
 * caller can't reach.
 */
export async function authenticate(c: Context<AppEnv>, addressing: Addressing = {}): Promise<Ctx> {
  const read = () => readCredential(c);
  return identify(c, counting(c, read), addressing);
}

/** `authenticate`, for routes that refuse management keys with the 401 of an unknown token. */
export async function authenticateSession(c: Context<AppEnv>): Promise<Ctx> {
  const credential = counting(c, () => {
    const presented = readCredential(c);
    if (presented.kind !== "session") throw unknownToken();
    return presented;
  });
  return identify(c, credential);
}

/** Whether the request has a session token, valid or not: a bearer token in that form, or else the cookie. */
export function offersSession(c: Context<AppEnv>): boolean {
  const bearer = counting(c, () => readBearer(c));
  return bearer === null ? readSessionCookie(c) !== null : tokenKind(bearer) === "session";
}

/** The bearer token; null without `Authorization`. Throws the 401 for any other form, and for a repeated header. */
function readBearer(c: Context<AppEnv>): string | null {
  const header = c.req.header("Authorization");
  if (header === undefined) return null;
  // Repeated headers arrive joined by ", ", and tokens can't contain a space.
  const token = /^Bearer +([\x21-\x7e]+)$/i.exec(header)?.[1];
  if (!token) throw new EngineError("unauthorized", "Authorization must be sent once, as: Bearer <token>");
  return token;
}

/** Calls `read`, and counts a 401 that it throws, which no statement counts. Throws the 401 or the 429. */
function counting<T>(c: Context<AppEnv>, read: () => T): T {
  try {
    return read();
  } catch (refusal) {
    countRefused(c);
    throw refusal;
  }
}

function readCredential(c: Context<AppEnv>): Credential {
  const bearer = readBearer(c);
  const token = bearer ?? readSessionCookie(c);
  if (token === null) throw new EngineError("unauthorized", "Missing credentials");
  const kind = tokenKind(token);
  const ambient = bearer === null;
  if (kind === null || (ambient && kind !== "session")) throw unknownToken();
  return { token, kind, ambient };
}

async function identify(c: Context<AppEnv>, credential: Credential, addressing: Addressing = {}): Promise<Ctx> {
  const { token, ambient } = credential;
  if (ambient && !readOnlyMethods.has(c.req.method)) requireOwnOrigin(c);
  const { services, log, requestId, ip } = c.var;
  const { database, clock } = services;
  const address = addressing.address ?? addressedOrganization(c);
  const now = clock.now();
  const row = await findCaller(c, credential, { ...addressing, address }, now);
  const actor = row && toActor(row);
  if (!actor) throw unknownToken();
  // A stored time in the future is from before the clock was set back.
  if (row.usedAt === null || Math.abs(now - row.usedAt) >= refreshMs) {
    await refresh(services, row, now);
    if (ambient) setSessionCookie(c, token);
  }
  // A token that works across organizations has none of its own.
  const isNamed = address !== null || addressing.installation === true || !isAcrossOrganizations(actor);
  const membership = isNamed ? toMembership(row, services) : null;
  const request = { id: requestId, ip };
  const ctx = { ...services, log, db: database.db, actor, membership: membership ?? nowhere, request };
  const { method, path } = c.req;
  if (isAcrossOrganizations(actor)) await recordUse(ctx, "token.use", method, path);
  if (actor.type === "user" && actor.impersonator) await recordUse(ctx, "impersonation.request", method, path);
  if (!membership && address !== null) throw notFound("Organization");
  return ctx;
}

/** The row of a known token, or of a management key that this request rewrites from the older form. */
async function findCaller(
  c: Context<AppEnv>,
  { token, kind }: Credential,
  addressing: Addressing,
  now: number,
): Promise<Caller | null> {
  const { services, log, ip } = c.var;
  const tokenDigest = await digest(token);
  const row = await countAndFind(c, tokenDigest, addressing, now);
  if (row || kind !== "management") return row;
  const attempt = { key: token, digest: tokenDigest, client: clientKey(ip), now };
  const rewritten = await rewriteLegacyKey({ ...services, log }, attempt);
  return rewritten ? countAndFind(c, tokenDigest, addressing, now) : null;
}

/** The row of a known token. Sets the headers about the caller's remaining requests, for any response to come. */
async function countAndFind(
  c: Context<AppEnv>,
  tokenDigest: Uint8Array,
  { address = null, installation = false, unlimited = false }: Addressing,
  now: number,
): Promise<Caller | null> {
  const { database, policies, options } = c.var.services;
  const administration = options.edition.has("administration");
  const { calls: limit, windowMs } = policyLimit({ policies });
  const window: Limit = { calls: installation ? Math.max(limit, leastInstallationCalls) : limit, windowMs };
  const { key: stranger, ...moments } = throttleValues(strangerKey(c.var.ip), window, now);
  const count = unlimited ? "unlimited:" : installation ? "installation:" : "api:";
  const values = { digest: tokenDigest, slug: address, ...moments, stranger, installation, administration, count };
  const [row] = await lookup.run(database, values);
  if (!row) throw new Error("The credential query returned no row");
  if (unlimited && row.id !== null) return row;
  const result = judge(row, window, now);
  for (const [name, value] of Object.entries(limitHeaders(result))) c.header(name, value);
  requireAllowed(result);
  return row.id === null ? null : row;
}

const readOnlyMethods = new Set(["GET", "HEAD", "OPTIONS"]);

/** The slug in the path, or else in the header. Throws the 404 when the two differ. */
function addressedOrganization(c: Context<AppEnv>): string | null {
  const inPath: string | undefined = c.req.param("orgSlug");
  const inHeader = c.req.header("X-Organization");
  if (inPath !== undefined && inHeader !== undefined && inPath !== inHeader) throw notFound("Organization");
  const slug = inPath ?? inHeader ?? null;
  if (slug?.includes("\u0000")) throw notFound("Organization");
  return slug;
}

function toActor({ id, kind, name, scope, userId, userName, email, ...by }: Caller): Actor | null {
  if (kind === "management") return { type: "key", id, name: name ?? "" };
  if (userId === null) return null;
  const user: UserActor = { type: "user", id: userId, name: userName ?? "", email: email ?? "", tokenId: id };
  if (kind === "session") return user;
  if (kind === "personal") return { ...user, token: { name: name ?? "", scope: scope ?? "organization" } };
  const { impersonatorId, impersonatorName } = by;
  return impersonatorId === null
    ? null
    : { ...user, impersonator: { id: impersonatorId, name: impersonatorName ?? "" } };
}

function toMembership(row: Caller, { options }: Services): Membership | null {
  const { organizationId, organizationSlug, organizationFirst } = row;
  if (organizationId === null || organizationSlug === null) return null;
  return membershipIn({ organizationId, organizationSlug, first: organizationFirst ?? false }, row, options.edition);
}

/** Stores the use of a token, and extends a session from now; a management key keeps its expiry. */
async function refresh({ database }: Services, { id, kind }: Caller, now: number): Promise<void> {
  const expiry = kind === "session" ? { expiresAt: new Date(now + sessionSeconds * 1000) } : {};
  await database.db
    .update(accessTokens)
    .set({ lastUsedAt: new Date(now), ...expiry })
    .where(eq(accessTokens.id, id));
}
