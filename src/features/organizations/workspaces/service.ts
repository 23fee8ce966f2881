import { and, asc, eq, ne, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { sortByName } from "../../../core/text/names.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Db } from "../../../db/client.ts";
import { hasId } from "../../../db/fragments.ts";
import { agents, workspaceMembers, workspaces } from "../../../db/schema.ts";
import { isSameName } from "../rules.ts";
import { writeOrganization } from "../write.ts";
import type { Workspace } from "./schema.ts";

/** The workspaces that the caller reaches, by name. */
export async function listWorkspaces(ctx: Ctx): Promise<Workspace[]> {
  const rows = await selectWorkspaces(ctx.db).where(withinReach(ctx)).orderBy(asc(workspaces.id));
  return sortByName(rows.map(toWorkspace));
}

/** Creates a workspace. Throws the 409 for a taken name. */
export async function createWorkspace(ctx: Ctx, name: string): Promise<Workspace> {
  const id = newId();
  const { organizationId } = ctx.membership;
  return writeOrganization(ctx, { action: "workspace.create", target: name, summary: { id } }, async (tx) => {
    await requireFreeName(tx, ctx, name);
    await tx.insert(workspaces).values({ id, organizationId, name });
    return readWorkspace(tx, id);
  });
}

/** Renames a workspace. Throws 404 for the workspace, 409 for a taken name. */
export async function renameWorkspace(ctx: Ctx, id: string, name: string): Promise<Workspace> {
  const { name: target } = await findWorkspace(ctx.db, ctx, id);
  const changes: Changes = {};
  const change = { action: "workspace.update", target, summary: { id }, changes };
  return writeOrganization(ctx, change, async (tx) => {
    const before = await findWorkspace(tx, ctx, id);
    Object.assign(changes, changesBetween(before, { name }));
    await requireFreeName(tx, ctx, name, id);
    await tx.update(workspaces).set({ name, updatedAt: sql`now()` }).where(eq(workspaces.id, id));
    return readWorkspace(tx, id);
  });
}

/**
 * Deletes a workspace. Throws 404 for the workspace, 409 while it contains agents and for the organization's last one.
 */
export async function deleteWorkspace(ctx: Ctx, id: string): Promise<void> {
  const { name } = await findWorkspace(ctx.db, ctx, id);
  await writeOrganization(ctx, { action: "workspace.delete", target: name, summary: { id } }, async (tx) => {
    await findWorkspace(tx, ctx, id);
    await requireAnotherWorkspace(tx, ctx, id);
    // Waits for transactions that add agents to the workspace, and blocks later ones.
    await tx.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, id)).for("update");
    await requireEmpty(tx, id);
    await tx.delete(workspaces).where(eq(workspaces.id, id));
  });
}

/** A workspace that the same transaction wrote. */
async function readWorkspace(tx: Db, id: string): Promise<Workspace> {
  const [row] = await selectWorkspaces(tx).where(eq(workspaces.id, id));
  if (!row) throw new Error("A workspace that was written is not there");
  return toWorkspace(row);
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
  const number = await tx.$count(agents, eq(agents.workspaceId, id));
  if (number === 0) return;
  const advice = number === 1 ? "1 agent: move or delete it" : `${number} agents: move or delete them`;
  throw new EngineError("conflict", `The workspace holds ${advice} first`);
}

function selectWorkspaces(db: Db) {
  return db
    .select({
      id: workspaces.id,
      name: workspaces.name,
      createdAt: workspaces.createdAt,
      updatedAt: workspaces.updatedAt,
      agentCount: db.$count(agents, eq(agents.workspaceId, workspaces.id)),
      memberCount: db.$count(workspaceMembers, eq(workspaceMembers.workspaceId, workspaces.id)),
    })
    .from(workspaces);
}

type Row = Awaited<ReturnType<typeof selectWorkspaces>>[number];

function toWorkspace({ createdAt, updatedAt, ...row }: Row): Workspace {
  return { ...row, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/** A workspace. Throws the same 404 for a missing one and for an unreachable one. */
export async function findWorkspace(db: Db, ctx: Ctx, id: string): Promise<{ id: string; name: string }> {
  const [row] = await db
    .select({ id: workspaces.id, name: workspaces.name })
    .from(workspaces)
    .where(and(hasId(workspaces.id, id), withinReach(ctx)));
  if (!row) throw notFound("Workspace");
  return row;
}

/** Limits a query to those workspaces of the request's organization that the caller reaches. */
function withinReach({ membership }: Ctx): SQL | undefined {
  const scope = membership.workspaceIds;
  return and(
    eq(workspaces.organizationId, membership.organizationId),
    scope ? sql`${workspaces.id} = any(${writeArray(scope)}::uuid[])` : undefined,
  );
}
