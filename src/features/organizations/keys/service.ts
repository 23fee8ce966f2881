import { and, asc, eq } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../context/ctx.ts";
import { write } from "../../../context/write.ts";
import { newToken } from "../../../core/credentials/tokens.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { hasId } from "../../../db/fragments.ts";
import { accessTokens } from "../../../db/schema.ts";
import type { CreatedManagementKey, ManagementKey, NewManagementKey } from "./schema.ts";

/** How many characters of a key lists show: enough to recognise it, far too few to guess it. */
const prefixLength = 10;

/** The organization's keys, oldest first, without the keys themselves. */
export async function listManagementKeys({ db, membership }: Ctx): Promise<ManagementKey[]> {
  const rows = await db
    .select()
    .from(accessTokens)
    .where(and(eq(accessTokens.kind, "management"), eq(accessTokens.organizationId, membership.organizationId)))
    .orderBy(asc(accessTokens.createdAt), asc(accessTokens.id));
  return rows.map(({ id, name, prefix, expiresAt, lastUsedAt, createdAt }) => ({
    id,
    name: name ?? "",
    prefix: prefix ?? "",
    expiresAt: expiresAt?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  }));
}

/** Issues a key of the request's organization. Only this result contains it. Throws the 400 for a past expiry. */
export async function createManagementKey(
  ctx: Ctx,
  { name, expiresAt }: NewManagementKey,
): Promise<CreatedManagementKey> {
  const { membership, clock } = ctx;
  const createdAt = new Date(clock.now());
  const expires = expiresAt ? new Date(expiresAt) : null;
  if (expires && expires <= createdAt) throw new EngineError("bad-request", "expiresAt: must be in the future");
  const { token, digest } = await newToken("management");
  const id = newId();
  const prefix = token.slice(0, prefixLength);
  await write(ctx, { action: "management-key.create", target: name, summary: { id, prefix } }, (tx) =>
    tx.insert(accessTokens).values({
      id,
      kind: "management",
      digest,
      organizationId: membership.organizationId,
      name,
      prefix,
      expiresAt: expires,
      createdBy: authorOf(ctx),
      createdAt,
    }),
  );
  return {
    id,
    name,
    key: token,
    prefix,
    expiresAt: expires?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}

/**
 * Revokes a key at once. Throws the same 404 for a missing key and for one of another organization; for a management
 * key, the 403 for every key but itself, whether there is one or not.
 */
export async function deleteManagementKey(ctx: Ctx, id: string): Promise<void> {
  const { actor } = ctx;
  if (actor.type === "key" && actor.id !== id.toLowerCase()) {
    throw new EngineError("forbidden", "A management key can revoke only itself");
  }
  const own = and(
    hasId(accessTokens.id, id),
    eq(accessTokens.kind, "management"),
    eq(accessTokens.organizationId, ctx.membership.organizationId),
  );
  const [key] = await ctx.db
    .select({ name: accessTokens.name, prefix: accessTokens.prefix })
    .from(accessTokens)
    .where(own);
  if (!key) throw notFound("Management key");
  const change = { action: "management-key.delete", target: key.name ?? "", summary: { id, prefix: key.prefix } };
  await write(ctx, change, async (tx) => {
    const deleted = await tx.delete(accessTokens).where(own).returning({ id: accessTokens.id });
    if (deleted.length === 0) throw notFound("Management key");
  });
}
