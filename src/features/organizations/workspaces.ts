import { z } from "@hono/zod-openapi";
import { and, asc, count, eq, ne, type SQL, sql } from "drizzle-orm";
import { type Ctx, workspaceScope } from "../../context.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Db } from "../../db/client.ts";
import { agents, members, users, workspaceMembers, workspaces } from "../../db/schema.ts";
import type { Member } from "./member-schema.ts";
import { findMember, selectMembers, toMember } from "./members.ts";
import { isSameName } from "./rules.ts";
import type { Workspace } from "./workspace-schema.ts";
import { writeOrganization } from "./write.ts";

/** The workspaces within the caller's reach, by name. */
export async function listWorkspaces(ctx: Ctx): Promise<Workspace[]> {
  const rows = await selectWorkspaces(ctx.db)
    .where(withinReach(ctx))
    .orderBy(sql`lower(${workspaces.name})`, asc(workspaces.id));
  return rows.map(toWorkspace);
}

/** Throws the 409 of a taken name. */
export async function createWorkspace(ctx: Ctx, name: string): Promise<Workspace> {
  const id = newId();
  const { organizationId } = ctx.membership;
  return writeOrganization(ctx, { action: "workspace.create", target: name, summary: { id } }, async (tx) => {
    await requireFreeName(tx, ctx, name);
    await tx.insert(workspaces).values({ id, organizationId, name });
    return readWorkspace(tx, id);
  });
}

/** Throws 404 for the workspace, 409 for a taken name. */
export async function renameWorkspace(ctx: Ctx, id: string, name: string): Promise<Workspace> {
  const before = await findWorkspace(ctx.db, ctx, id);
  const change = { action: "workspace.update", target: before.name, summary: { id, name } };
  return writeOrganization(ctx, change, async (tx) => {
    await findWorkspace(tx, ctx, id);
    await requireFreeName(tx, ctx, name, id);
    await tx.update(workspaces).set({ name, updatedAt: sql`now()` }).where(eq(workspaces.id, id));
    return readWorkspace(tx, id);
  });
}

/** Throws 404 for the workspace, 409 while it holds agents and for the organization's last one. */
export async function deleteWorkspace(ctx: Ctx, id: string): Promise<void> {
  const { name } = await findWorkspace(ctx.db, ctx, id);
  await writeOrganization(ctx, { action: "workspace.delete", target: name, summary: { id } }, async (tx) => {
    await findWorkspace(tx, ctx, id);
    await requireAnotherWorkspace(tx, ctx, id);
    // Waits for agents that are being put into it; none can follow.
    await tx.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, id)).for("update");
    await requireEmpty(tx, id);
    await tx.delete(workspaces).where(eq(workspaces.id, id));
  });
}

/** The members with an entry in the workspace, by name. Throws the 404. */
export async function listWorkspaceMembers(ctx: Ctx, id: string): Promise<Member[]> {
  const { db, membership } = ctx;
  await findWorkspace(db, ctx, id);
  const rows = await selectMembers(db)
    .innerJoin(workspaceMembers, eq(workspaceMembers.userId, users.id))
    .where(and(eq(members.organizationId, membership.organizationId), eq(workspaceMembers.workspaceId, id)))
    .orderBy(sql`lower(${users.name})`, asc(users.email));
  return rows.map(toMember);
}

/** Lets a member reach the workspace, whether or not it was so before. Throws 404 for the workspace and the member. */
export async function assignMember(ctx: Ctx, workspaceId: string, userId: string): Promise<void> {
  await writeEntry(ctx, "workspace-member.add", { workspaceId, userId }, async (tx) => {
    await tx.insert(workspaceMembers).values({ workspaceId, userId }).onConflictDoNothing();
  });
}

/** Takes the entry away, if there is one. Throws 404 for the workspace and the member. */
export async function unassignMember(ctx: Ctx, workspaceId: string, userId: string): Promise<void> {
  await writeEntry(ctx, "workspace-member.remove", { workspaceId, userId }, async (tx) => {
    await tx
      .delete(workspaceMembers)
      .where(and(eq(workspaceMembers.workspaceId, workspaceId), eq(workspaceMembers.userId, userId)));
  });
}

interface Entry {
  workspaceId: string;
  userId: string;
}

async function writeEntry(ctx: Ctx, action: string, entry: Entry, fn: (tx: Db) => Promise<void>): Promise<void> {
  const { name } = await findWorkspace(ctx.db, ctx, entry.workspaceId);
  const { email } = await findMember(ctx, ctx.db, entry.userId);
  await writeOrganization(ctx, { action, target: email, summary: { ...entry, workspace: name } }, async (tx) => {
    await findWorkspace(tx, ctx, entry.workspaceId);
    await findMember(ctx, tx, entry.userId);
    await fn(tx);
  });
}

/** Throws the 404, the same for a missing workspace and for one out of the caller's reach. */
async function findWorkspace(db: Db, ctx: Ctx, id: string): Promise<{ id: string; name: string }> {
  if (!z.uuid().safeParse(id).success) throw notFound("Workspace");
  const [row] = await db
    .select({ id: workspaces.id, name: workspaces.name })
    .from(workspaces)
    .where(and(eq(workspaces.id, id), withinReach(ctx)));
  if (!row) throw notFound("Workspace");
  return row;
}

/** One that is known to be there. */
async function readWorkspace(tx: Db, id: string): Promise<Workspace> {
  const [row] = await selectWorkspaces(tx).where(eq(workspaces.id, id));
  if (!row) throw new Error("A workspace that was written is not there");
  return toWorkspace(row);
}

function withinReach({ membership }: Ctx): SQL | undefined {
  const scope = workspaceScope(membership);
  return and(
    eq(workspaces.organizationId, membership.organizationId),
    scope ? sql`${workspaces.id} = any(${`{${scope.join(",")}}`}::uuid[])` : undefined,
  );
}

async function requireFreeName(tx: Db, { membership }: Ctx, name: string, except?: string): Promise<void> {
  const others = await tx
    .select({ id: workspaces.id, name: workspaces.name })
    .from(workspaces)
    .where(eq(workspaces.organizationId, membership.organizationId));
  const taken = others.find((other) => other.id !== except && isSameName(other.name, name));
  if (taken) throw new EngineError("conflict", `There is a workspace ${taken.name} already`);
}

async function requireAnotherWorkspace(tx: Db, { membership }: Ctx, id: string): Promise<void> {
  const [other] = await tx
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(and(eq(workspaces.organizationId, membership.organizationId), ne(workspaces.id, id)))
    .limit(1);
  if (!other) throw new EngineError("conflict", "The last workspace stays: create another one first");
}

async function requireEmpty(tx: Db, id: string): Promise<void> {
  const [held] = await tx.select({ agents: count() }).from(agents).where(eq(agents.workspaceId, id));
  const number = held?.agents ?? 0;
  if (number === 0) return;
  const what = number === 1 ? "1 agent: move or delete it" : `${number} agents: move or delete them`;
  throw new EngineError("conflict", `The workspace holds ${what} first`);
}

function selectWorkspaces(db: Db) {
  return db
    .select({
      id: workspaces.id,
      name: workspaces.name,
      createdAt: workspaces.createdAt,
      updatedAt: workspaces.updatedAt,
      // Spelled out, since Drizzle leaves the table out of a column's name when a query has only one table.
      agentCount: sql<number>`(select count(*)::int from agents a where a.workspace_id = workspaces.id)`,
      memberCount: sql<number>`(select count(*)::int from workspace_members m where m.workspace_id = workspaces.id)`,
    })
    .from(workspaces);
}

type Row = Awaited<ReturnType<typeof selectWorkspaces>>[number];

function toWorkspace({ createdAt, updatedAt, ...row }: Row): Workspace {
  return { ...row, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}
