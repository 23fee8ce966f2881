import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { workspaceScope } from "../../../context/membership.ts";
import { notFound } from "../../../core/errors.ts";
import { isUuid } from "../../../core/ids.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Db } from "../../../db/client.ts";
import { workspaces } from "../../../db/schema.ts";

/** Throws the same 404 for a missing workspace and for one out of the caller's reach. */
export async function findWorkspace(db: Db, ctx: Ctx, id: string): Promise<{ id: string; name: string }> {
  if (!isUuid(id)) throw notFound("Workspace");
  const [row] = await db
    .select({ id: workspaces.id, name: workspaces.name })
    .from(workspaces)
    .where(and(eq(workspaces.id, id), withinReach(ctx)));
  if (!row) throw notFound("Workspace");
  return row;
}

/** Limits a query to the workspaces of the addressed organization that the caller reaches. */
export function withinReach({ membership }: Ctx): SQL | undefined {
  const scope = workspaceScope(membership);
  return and(
    eq(workspaces.organizationId, membership.organizationId),
    scope ? sql`${workspaces.id} = any(${writeArray(scope)}::uuid[])` : undefined,
  );
}
