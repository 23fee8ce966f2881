import { and, asc, eq } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { sortByName } from "../../../core/text/names.ts";
import type { Db } from "../../../db/client.ts";
import { members, users, workspaceMembers } from "../../../db/schema.ts";
import { findMember, selectMembers, toMember } from "../members/find.ts";
import type { Member } from "../members/schema.ts";
import { writeOrganization } from "../write.ts";
import { findWorkspace } from "./service.ts";

/** The members with an entry in the workspace, by name. Throws the 404. */
export async function listWorkspaceMembers(ctx: Ctx, id: string): Promise<Member[]> {
  const { db, membership } = ctx;
  await findWorkspace(db, ctx, id);
  const rows = await selectMembers(db)
    .innerJoin(workspaceMembers, eq(workspaceMembers.userId, users.id))
    .where(and(eq(members.organizationId, membership.organizationId), eq(workspaceMembers.workspaceId, id)))
    .orderBy(asc(users.email));
  return sortByName(rows.map(toMember));
}

/** Gives a member access to the workspace. Idempotent. Throws 404 for the workspace and the member. */
export async function assignMember(ctx: Ctx, workspaceId: string, userId: string): Promise<void> {
  await writeEntry(ctx, "workspace-member.add", { workspaceId, userId }, async (tx) => {
    const added = await tx.insert(workspaceMembers).values({ workspaceId, userId }).onConflictDoNothing().returning();
    return added.length > 0;
  });
}

/** Deletes a member's entry in the workspace. Idempotent. Throws 404 for the workspace and the member. */
export async function unassignMember(ctx: Ctx, workspaceId: string, userId: string): Promise<void> {
  await writeEntry(ctx, "workspace-member.remove", { workspaceId, userId }, async (tx) => {
    const removed = await tx
      .delete(workspaceMembers)
      .where(and(eq(workspaceMembers.workspaceId, workspaceId), eq(workspaceMembers.userId, userId)))
      .returning();
    return removed.length > 0;
  });
}

interface Entry {
  workspaceId: string;
  userId: string;
}

async function writeEntry(ctx: Ctx, action: string, entry: Entry, fn: (tx: Db) => Promise<boolean>): Promise<void> {
  const { name } = await findWorkspace(ctx.db, ctx, entry.workspaceId);
  const { email } = await findMember(ctx, ctx.db, entry.userId);
  let changed = false;
  const change = { action, target: email, summary: { ...entry, workspace: name }, unchanged: () => !changed };
  await writeOrganization(ctx, change, async (tx) => {
    await findWorkspace(tx, ctx, entry.workspaceId);
    await findMember(ctx, tx, entry.userId);
    changed = await fn(tx);
  });
}
