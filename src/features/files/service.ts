import { and, eq } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { notFound } from "../../core/errors.ts";
import { isUuid } from "../../core/ids.ts";
import { agents, files } from "../../db/schema.ts";
import { withinReach } from "../agents/index.ts";
import type { FileRow } from "./storage.ts";

/** A stored file of an agent within reach. Throws the same 404 for a missing file and for one out of reach. */
export async function findFile(ctx: Ctx, id: string): Promise<FileRow> {
  const [found] = isUuid(id)
    ? await ctx.db
        .select({ file: files })
        .from(files)
        .innerJoin(agents, eq(agents.id, files.agentId))
        .where(and(eq(files.id, id), eq(files.status, "stored"), withinReach(ctx)))
    : [];
  if (!found) throw notFound("File");
  return found.file;
}
