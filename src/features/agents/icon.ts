import { eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { type Changes, changesBetween } from "../../core/changes.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { contentVersion, dataUrl, dataUrlBytes, iconAddress, imageType } from "../../core/files/image.ts";
import type { Db } from "../../db/client.ts";
import { agentIcons } from "../../db/schema.ts";
import { findAgent, writeAgent } from "./find.ts";
import { iconLimit } from "./rules.ts";

export interface Icon {
  mime: string;
  version: string;
  /** Null when the caller has this version already. */
  bytes: Uint8Array<ArrayBuffer> | null;
}

/**
 * The icon; its bytes are read only if the caller does not know its version. Throws the 404 of the agent, or of the
 * icon.
 */
export async function getIcon(ctx: Ctx, slug: string, isKnown: (version: string) => boolean): Promise<Icon> {
  const { id } = await findAgent(ctx, slug);
  const ofAgent = eq(agentIcons.agentId, id);
  const { mime, version } = agentIcons;
  const [current] = await ctx.db.select({ mime, version }).from(agentIcons).where(ofAgent);
  if (!current) throw notFound("Icon");
  if (isKnown(current.version)) return { ...current, bytes: null };
  // Read again, since the icon may have changed: type and version must belong to these bytes.
  const [icon] = await ctx.db.select().from(agentIcons).where(ofAgent);
  if (!icon) throw notFound("Icon");
  return { mime: icon.mime, version: icon.version, bytes: new Uint8Array(icon.bytes) };
}

/** The picture as a `data:` address; null for none. */
export async function exportIcon(db: Db, agentId: string): Promise<string | null> {
  const [icon] = await db.select().from(agentIcons).where(eq(agentIcons.agentId, agentId));
  return icon ? dataUrl(icon.mime, icon.bytes) : null;
}

/** Stores the picture and returns its address. Throws 400 unless it is a PNG, JPEG or WebP, 413 over 512 KiB. */
export async function putIcon(ctx: Ctx, slug: string, bytes: Uint8Array<ArrayBuffer> | null): Promise<string> {
  if (bytes && bytes.length > iconLimit) throw new EngineError("too-large", "The icon must be at most 512 KiB");
  const mime = bytes && imageType(bytes);
  if (!bytes || !mime) throw new EngineError("bad-request", "The icon must be a PNG, JPEG or WebP image");
  const version = await contentVersion(bytes);
  const changes: Changes = {};
  await writeAgent(ctx, slug, { action: "agent.icon.update", changes }, async (tx, { id }) => {
    const [before] = await tx
      .select({ version: agentIcons.version })
      .from(agentIcons)
      .where(eq(agentIcons.agentId, id));
    Object.assign(changes, changesBetween(before ?? {}, { version }));
    await storeIcon(tx, id, { mime, bytes, version });
  });
  return iconAddress(slug, version);
}

async function storeIcon(
  tx: Db,
  agentId: string,
  icon: Omit<typeof agentIcons.$inferInsert, "agentId">,
): Promise<void> {
  await tx
    .insert(agentIcons)
    .values({ ...icon, agentId })
    .onConflictDoUpdate({ target: agentIcons.agentId, set: { ...icon, updatedAt: sql`now()` } });
}

/** Replaces the picture by a `data:` address that `iconProblem` accepts; null removes it. */
export async function importIcon(tx: Db, agentId: string, address: string | null): Promise<void> {
  const bytes = address === null ? null : dataUrlBytes(address);
  const mime = bytes && imageType(bytes);
  if (bytes && mime) await storeIcon(tx, agentId, { mime, bytes, version: await contentVersion(bytes) });
  else await tx.delete(agentIcons).where(eq(agentIcons.agentId, agentId));
}

/** Throws the 404 of the agent, or of the icon. */
export async function deleteIcon(ctx: Ctx, slug: string): Promise<void> {
  await writeAgent(ctx, slug, { action: "agent.icon.delete" }, async (tx, { id }) => {
    const deleted = await tx.delete(agentIcons).where(eq(agentIcons.agentId, id)).returning({ id: agentIcons.agentId });
    if (deleted.length === 0) throw notFound("Icon");
  });
}
