import { and, eq, inArray, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { maskOf } from "../../../core/credentials/masks.ts";
import { EngineError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { lackOf, problemOfConnection } from "../../../core/models/facts.ts";
import type { ProviderRole } from "../../../core/models/roles.ts";
import { sortByName } from "../../../core/text/names.ts";
import type { Db } from "../../../db/client.ts";
import { agents, providerBindings, providerConnections } from "../../../db/schema.ts";
import { invalid } from "../../../http/errors.ts";
import { lockAgents, touchAgents, touchAgentsOf } from "../../agents/index.ts";
import { readAdmission } from "../facts.ts";
import { type ConnectionRow, keyPlace, leavesOrigin, newKey, problemsOf, toKnown } from "./rules.ts";
import type { Connection, ConnectionChanges, NewConnection } from "./schema.ts";
import {
  binds,
  findConnection,
  findHome,
  type Home,
  inHome,
  openKey,
  readConnections,
  rolesByConnection,
  writeConnections,
} from "./store.ts";

/** The most connections of an owner. */
const mostConnections = 50;

/** The connections of an owner, by name. `slug` is null for the organization. Throws the 404 of the agent. */
export async function listConnections(ctx: Ctx, slug: string | null): Promise<Connection[]> {
  const home = await findHome(ctx, slug);
  const rows = await readConnections(ctx.db, ctx, home);
  return sortByName(await show(ctx.db, ctx, home, rows));
}

/** Connections in their API form, as a transaction or the database reads them. */
async function show(db: Db, ctx: Ctx, home: Home, rows: readonly ConnectionRow[]): Promise<Connection[]> {
  const roles = await rolesByConnection(db, ctx, home);
  const admission = home && (await readAdmission(db, home.workspaceId));
  return Promise.all(
    rows.map(async (row) => {
      const key = await openKey(ctx, row);
      // A key that no longer opens is as good as none.
      const known = { ...toKnown(row), hasKey: key !== null };
      const reason = admission ? problemOfConnection(known, admission) : lackOf(known);
      return toConnection(row, { key, reason, roles: roles.get(row.id) ?? [] });
    }),
  );
}

interface Shown {
  key: string | null;
  reason: Connection["reason"];
  roles: ProviderRole[];
}

function toConnection({ id, name, provider, ...row }: ConnectionRow, { key, reason, roles }: Shown): Connection {
  const { baseUrl, enabled, isDefault } = row;
  const apiKeyHint = key === null ? null : maskOf(key);
  return { id, name, provider, baseUrl, apiKeyHint, enabled, isDefault, usable: reason === null, reason, roles };
}

/**
 * Creates a connection. Throws the 404 of the agent, the 400 of invalid fields, and the 409 for a taken name and for too
 * many connections.
 */
export async function createConnection(ctx: Ctx, slug: string | null, input: NewConnection): Promise<Connection> {
  requireValid(input, input, slug);
  const { apiKey, ...fields } = input;
  const id = newId();
  const key = newKey(apiKey) ?? null;
  const { name, provider } = fields;
  const change = { action: "provider-connection.create", name, summary: { id, provider } };
  return writeConnections(ctx, slug, change, async (tx, home) => {
    const others = await readConnections(tx, ctx, home);
    if (others.length >= mostConnections) {
      throw new EngineError("conflict", `A scope has at most ${mostConnections} connections`);
    }
    requireFreeName(others, name);
    if (fields.isDefault) await yieldDefault(tx, ctx);
    const author = authorOf(ctx);
    const [row] = await tx
      .insert(providerConnections)
      .values({
        ...fields,
        ...(await sealed(ctx, id, key)),
        id,
        organizationId: ctx.membership.organizationId,
        agentId: home?.id ?? null,
        createdBy: author,
        updatedBy: author,
      })
      .returning();
    if (!row) throw new Error("An insert returned no row");
    if (row.isDefault) await touchAgentsOf(tx, row.organizationId);
    return showOne(tx, ctx, home, row);
  });
}

/** Changes a connection. Throws its 404, and as `createConnection` does. */
export async function updateConnection(
  ctx: Ctx,
  slug: string | null,
  id: string,
  input: ConnectionChanges,
): Promise<Connection> {
  const { name } = await findConnection(ctx.db, ctx, await findHome(ctx, slug), id);
  const changes: Changes = {};
  const change = { action: "provider-connection.update", name, summary: { id }, changes };
  return writeConnections(ctx, slug, change, async (tx, home) => {
    const before = await findConnection(tx, ctx, home, id);
    const { columns, noted } = await changed(ctx, before, input, slug);
    Object.assign(changes, noted);
    if (Object.keys(noted).length === 0) return showOne(tx, ctx, home, before);
    if (columns.name !== before.name) requireFreeName(await readConnections(tx, ctx, home), columns.name);
    if (columns.isDefault && !before.isDefault) await yieldDefault(tx, ctx);
    const [row] = await tx
      .update(providerConnections)
      .set({ ...columns, updatedBy: authorOf(ctx), updatedAt: sql`now()` })
      .where(eq(providerConnections.id, id))
      .returning();
    if (!row) throw new Error("A connection that was locked is gone");
    if (home === null) await touchUsers(tx, row, before.isDefault);
    return showOne(tx, ctx, home, row);
  });
}

/** Deletes a connection. Throws its 404, and the 409 while an agent binds it. */
export async function deleteConnection(ctx: Ctx, slug: string | null, id: string): Promise<void> {
  const { name } = await findConnection(ctx.db, ctx, await findHome(ctx, slug), id);
  const change = { action: "provider-connection.delete", name, summary: { id } };
  await writeConnections(ctx, slug, change, async (tx, home) => {
    const { id: storedId, isDefault, organizationId } = await findConnection(tx, ctx, home, id);
    if ((await tx.$count(providerBindings, binds(storedId))) > 0) {
      throw new EngineError("conflict", "The connection is bound to a role");
    }
    await tx.delete(providerConnections).where(eq(providerConnections.id, id));
    if (isDefault) await touchAgentsOf(tx, organizationId);
  });
}

/** The columns after a change, and the changes for the audit log, without the values of key and address. */
async function changed(ctx: Ctx, before: ConnectionRow, input: ConnectionChanges, slug: string | null) {
  const { provider } = before;
  if (input.provider !== undefined && input.provider !== provider) {
    throw invalid([{ path: ["provider"], message: "can't be changed; make another connection" }]);
  }
  const after = {
    name: input.name ?? before.name,
    baseUrl: input.baseUrl === undefined ? before.baseUrl : input.baseUrl,
    enabled: input.enabled ?? before.enabled,
    isDefault: input.isDefault ?? before.isDefault,
  };
  requireValid({ provider, ...after }, input, slug);
  const key = await keyAfter(ctx, before, after.baseUrl, newKey(input.apiKey));
  const { baseUrl, ...shown } = after;
  const noted = changesBetween(before, shown);
  if (baseUrl !== before.baseUrl) noted.baseUrl = { from: null, to: "(changed)" };
  if (key !== undefined) noted.apiKey = { from: null, to: key === null ? "(deleted)" : "(changed)" };
  return { columns: { ...after, ...(key === undefined ? {} : await sealed(ctx, before.id, key)) }, noted };
}

/** The key to store after a change, null to delete the stored one; undefined to leave it. */
async function keyAfter(
  ctx: Ctx,
  before: ConnectionRow,
  baseUrl: string | null,
  given: string | null | undefined,
): Promise<string | null | undefined> {
  if (typeof given === "string") return given === (await openKey(ctx, before)) ? undefined : given;
  const isDeleted = given === null || leavesOrigin(before.provider, before.baseUrl, baseUrl);
  return isDeleted && before.keyId !== null ? null : undefined;
}

const sealed = async ({ cipher }: Ctx, id: string, key: string | null) =>
  key === null ? { keyId: null, ciphertext: null } : cipher.seal(key, keyPlace(id));

function requireValid(
  connection: Parameters<typeof problemsOf>[0],
  input: Pick<ConnectionChanges, "apiKey">,
  slug: string | null,
): void {
  const problems = problemsOf(connection, input, slug === null);
  if (problems.length > 0) throw invalid(problems);
}

function requireFreeName(others: readonly ConnectionRow[], name: string): void {
  if (others.some((other) => other.name === name)) throw new EngineError("conflict", `The name ${name} is taken`);
}

/** Takes the default away from the connection that has it. */
async function yieldDefault(tx: Db, ctx: Ctx): Promise<void> {
  await tx
    .update(providerConnections)
    .set({ isDefault: false })
    .where(and(inHome(ctx, null), providerConnections.isDefault));
}

/** Makes the agents that a shared connection concerns load again. */
async function touchUsers(tx: Db, { id, isDefault, organizationId }: ConnectionRow, wasDefault: boolean) {
  if (isDefault || wasDefault) return touchAgentsOf(tx, organizationId);
  const bound = tx.select({ id: providerBindings.agentId }).from(providerBindings).where(binds(id));
  await touchAgents(tx, await lockAgents(tx, inArray(agents.id, bound)));
}

async function showOne(tx: Db, ctx: Ctx, home: Home, row: ConnectionRow): Promise<Connection> {
  const [connection] = await show(tx, ctx, home, [row]);
  if (!connection) throw new Error("A connection is shown");
  return connection;
}
