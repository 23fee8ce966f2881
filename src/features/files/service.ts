import { and, eq, isNotNull, isNull } from "drizzle-orm";
import type { Ctx, Services } from "../../context/ctx.ts";
import { notFound } from "../../core/errors.ts";
import { hasId } from "../../db/fragments.ts";
import { agents, files, organizations } from "../../db/schema.ts";
import { withinReach } from "../agents/index.ts";
import type { FileRow } from "./storage.ts";

/** A stored file of a reachable agent. Throws the same 404 for a missing file and for an unreachable one. */
export async function findFile(ctx: Ctx, id: string): Promise<FileRow> {
  const [found] = await ctx.db
    .select({ file: files })
    .from(files)
    .innerJoin(agents, eq(agents.id, files.agentId))
    .where(and(hasId(files.id, id), eq(files.status, "stored"), withinReach(ctx)));
  if (!found) throw notFound("File");
  return found.file;
}

/** The file of a verified link. Throws the 404 when the file, its conversation, its agent or its organization was deleted. */
export async function findLinked({ database }: Services, id: string): Promise<FileRow> {
  const [found] = await database.db
    .select({ file: files })
    .from(files)
    .innerJoin(organizations, eq(organizations.id, files.organizationId))
    .where(
      and(
        eq(files.id, id),
        eq(files.status, "stored"),
        isNotNull(files.conversationId),
        isNull(organizations.deletedAt),
      ),
    );
  if (!found) throw notFound("File");
  return found.file;
}
