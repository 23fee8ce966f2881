import type { Context } from "hono";
import { type Actor, type Ctx, type Membership, membershipIn, type Services } from "../context.ts";
import { EngineError, notFound } from "../core/errors.ts";
import { digest } from "../core/ids.ts";
import { sessionSeconds, type TokenKind, tokenKind } from "../core/tokens.ts";
import { firstOrganization } from "../db/schema.ts";
import { clientKey } from "./address.ts";
import { readSessionCookie, setSessionCookie } from "./cookie.ts";
import type { AppEnv } from "./environment.ts";
import { rewriteLegacyKey } from "./legacy-key.ts";
import { requireOwnOrigin } from "./origin.ts";
import {
  judge,
  type Limit,
  requireAllowed,
  standingHeaders,
  type ThrottleRow,
  throttleParameters,
  throttleUpsert,
} from "./throttle.ts";

/** A use is written down at most this often, so that a guarded request reads and does not write. */
const refreshMs = 60 * 60 * 1000;

interface Credential {
  token: string;
  kind: TokenKind;
  /** From the cookie, which a browser also sends when another site asks it to. */
  ambient: boolean;
}

/** Of a known token. */
interface Row {
  id: string;
  kind: TokenKind;
  name: string | null;
  used_at: number | null;
  user_id: string | null;
  user_name: string | null;
  email: string | null;
  organization_id: string | null;
  organization_slug: string | null;
  organization_first: boolean | null;
  role_key: string | null;
  workspace_ids: string | null;
}

/** Routes of the installation are counted apart, so that whoever used the policy `rateLimit` up can still mend it. */
const counter =
  "coalesce((select case when $6::boolean then 'installation:' else 'api:' end || coalesce(user_id, id) from token), $5)";
const leastInstallationCalls = 60;

/**
 * Token, user, addressed organization, role and workspaces, and the count of the caller's requests, in one round trip.
 * $1 digest, $2 slug of the addressed organization or null, $3 now, $4 the end of a window that begins now, $5 whom an
 * unknown token counts for, $6 whether it is a route of the installation, where an unaddressed request means the first
 * organization.
 */
const lookup = `
with token as (
  select t.id, t.kind, t.name, t.user_id, t.organization_id, t.active_organization_id, t.last_used_at,
    u.name as user_name, u.email, u.password_organization
  from access_tokens t
  left join users u on u.id = t.user_id
  where t.digest = $1 and (t.expires_at is null or t.expires_at > $3::timestamptz)
), calls as (${throttleUpsert(counter, "$3", "$4")}
), first as (
  ${firstOrganization}
)
select t.id, t.kind, t.name, (extract(epoch from t.last_used_at) * 1000)::float8 as used_at,
  t.user_id, t.user_name, t.email,
  o.id as organization_id, o.slug as organization_slug, o.id = (select id from first) as organization_first,
  o.role_key, w.ids as workspace_ids, calls.count, calls.resets_at_ms
from calls
left join token t on true
left join lateral (
  select o.id, o.slug, m.role_key
  from (
    select organization_id, role_key, created_at from members
    where user_id = t.user_id and (t.password_organization is null or t.password_organization = organization_id)
    union all
    select t.organization_id, 'owner', null where t.kind = 'management'
  ) m
  join organizations o on o.id = m.organization_id
  where case when $2::text is not null then o.slug = $2
    when $6::boolean then o.id = (select id from first) else true end
  order by (o.id = t.active_organization_id) desc nulls last, m.created_at, o.id
  limit 1
) o on true
left join lateral (
  select string_agg(wm.workspace_id::text, ',') as ids
  from workspace_members wm
  join workspaces w on w.id = wm.workspace_id
  where wm.user_id = t.user_id and w.organization_id = o.id
) w on true`;

/** Someone signed in who belongs to no organization: no permission, and an id that no row has. */
const nowhere: Membership = {
  organizationId: "00000000-0000-0000-0000-000000000000",
  organizationSlug: "",
  first: false,
  role: "viewer",
  permissions: new Set(),
  workspaceIds: [],
};

interface Addressing {
  /** A request that names no organization means the first one, not the caller's active one. */
  installation?: boolean;
}

/**
 * Finds out who calls and which organization is addressed, and counts the call, in one query. Throws the 401s, the 429
 * of the policy `rateLimit`, the 403 of a cookie that comes from a foreign page, and the 404 of an organization out of
 * reach.
 */
export async function authenticate(c: Context<AppEnv>, addressing: Addressing = {}): Promise<Ctx> {
  return identify(c, readCredential(c), addressing);
}

/** The same for routes where a management key is no credential: it is the 401 of any unknown token. */
export async function authenticateSession(c: Context<AppEnv>): Promise<Ctx> {
  const credential = readCredential(c);
  if (credential.kind !== "session") throw invalid();
  return identify(c, credential);
}

/** Whether the caller offers a session, valid or not: a bearer token of that form, else the cookie. */
export function offersSession(c: Context<AppEnv>): boolean {
  const bearer = readBearer(c);
  return bearer === null ? readSessionCookie(c) !== null : tokenKind(bearer) === "session";
}

/** The bearer token, or null without the header. Throws the 401 for any other form of it, a repeated one too. */
export function readBearer(c: Context<AppEnv>): string | null {
  const header = c.req.header("Authorization");
  if (header === undefined) return null;
  // A repeated header arrives joined by ", ": the space gives it away.
  const token = /^Bearer +([\x21-\x7e]+)$/i.exec(header)?.[1];
  if (!token) throw new EngineError("unauthorized", "Authorization must be sent once, as: Bearer <token>");
  return token;
}

/** Throws the 403 for a management key where only a signed-in person may act. */
export function requireSession(actor: Actor): void {
  if (actor.type !== "user") throw new EngineError("forbidden", "This needs a signed-in session");
}

function readCredential(c: Context<AppEnv>): Credential {
  const bearer = readBearer(c);
  const token = bearer ?? readSessionCookie(c);
  if (token === null) throw new EngineError("unauthorized", "Missing credentials");
  const kind = tokenKind(token);
  const ambient = bearer === null;
  if (kind === null || (ambient && kind !== "session")) throw invalid();
  return { token, kind, ambient };
}

async function identify(
  c: Context<AppEnv>,
  credential: Credential,
  { installation = false }: Addressing = {},
): Promise<Ctx> {
  const { token, ambient } = credential;
  if (ambient && !readOnlyMethods.has(c.req.method)) requireOwnOrigin(c);
  const { services, log, requestId, ip } = c.var;
  const { database, clock } = services;
  const address = addressedOrganization(c);
  const now = clock.now();
  const row = await findCaller(c, credential, [address, installation], now);
  const actor = row && toActor(row);
  if (!actor) throw invalid();
  if (row.used_at === null || now - row.used_at >= refreshMs) {
    await refresh(services, row, now);
    if (ambient) setSessionCookie(c, token);
  }
  const membership = toMembership(row);
  if (!membership && address !== null) throw notFound("Organization");
  return {
    ...services,
    log,
    db: database.db,
    actor,
    membership: membership ?? nowhere,
    request: { id: requestId, ip },
  };
}

/** The row of a known token, or of a management key that is met in its older form for the first time. */
async function findCaller(
  c: Context<AppEnv>,
  { token, kind }: Credential,
  addressing: [string | null, boolean],
  now: number,
): Promise<Row | null> {
  const { services, log, ip } = c.var;
  const tokenDigest = await digest(token);
  const row = await countAndFind(c, [tokenDigest, ...addressing], now);
  if (row || kind !== "management") return row;
  const attempt = { key: token, digest: tokenDigest, client: clientKey(ip), now };
  const rewritten = await rewriteLegacyKey({ ...services, log }, attempt);
  return rewritten ? countAndFind(c, [tokenDigest, ...addressing], now) : null;
}

/** The row of a known token. What is left of the caller's limit goes into the answer, whatever that will be. */
async function countAndFind(
  c: Context<AppEnv>,
  [tokenDigest, address, installation]: [Uint8Array, string | null, boolean],
  now: number,
): Promise<Row | null> {
  const { database, policies } = c.var.services;
  const { limit, windowSeconds } = policies.values.rateLimit;
  const calls = installation ? Math.max(limit, leastInstallationCalls) : limit;
  const window: Limit = { calls, windowMs: windowSeconds * 1000 };
  const [, nowText, resetsAt] = throttleParameters("", window, now);
  const stranger = `api:${clientKey(c.var.ip)}`;
  const found = await database.query<ThrottleRow & (Row | { id: null })>(lookup, [
    tokenDigest,
    address,
    nowText,
    resetsAt,
    stranger,
    installation,
  ]);
  const [row] = found;
  if (!row) throw new Error("The credential query returned no row");
  const verdict = judge(row, window, now);
  for (const [name, value] of Object.entries(standingHeaders(verdict))) c.header(name, value);
  requireAllowed(verdict);
  return row.id === null ? null : row;
}

const readOnlyMethods = new Set(["GET", "HEAD", "OPTIONS"]);

const invalid = () => new EngineError("unauthorized", "Invalid or expired credentials");

/** The path's organization, else the header's. A request that names two addresses none. */
function addressedOrganization(c: Context<AppEnv>): string | null {
  const inPath: string | undefined = c.req.param("orgSlug");
  const inHeader = c.req.header("X-Organization");
  if (inPath !== undefined && inHeader !== undefined && inPath !== inHeader) throw notFound("Organization");
  const slug = inPath ?? inHeader ?? null;
  if (slug?.includes("\u0000")) throw notFound("Organization");
  return slug;
}

function toActor({ id, kind, name, user_id, user_name, email }: Row): Actor | null {
  if (kind === "management") return { type: "key", id, name: name ?? "" };
  if (user_id === null) return null;
  return { type: "user", id: user_id, name: user_name ?? "", email: email ?? "", sessionId: id };
}

function toMembership(row: Row): Membership | null {
  const { organization_id, organization_slug, role_key, workspace_ids } = row;
  if (organization_id === null || organization_slug === null) return null;
  return membershipIn(
    { organizationId: organization_id, organizationSlug: organization_slug, first: row.organization_first ?? false },
    { role: role_key, workspaceIds: workspace_ids },
  );
}

/** Notes the use; a session lives on from here, a management key ends when it was said to. */
async function refresh({ database }: Services, { id }: Row, now: number): Promise<void> {
  const expires = new Date(now + sessionSeconds * 1000).toISOString();
  await database.query(
    `update access_tokens set last_used_at = $2,
       expires_at = case when kind = 'session' then $3::timestamptz else expires_at end
     where id = $1`,
    [id, new Date(now).toISOString(), expires],
  );
}
