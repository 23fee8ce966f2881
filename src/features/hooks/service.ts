import { and, asc, eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../context/ctx.ts";
import { type Changes, changesBetween } from "../../core/changes.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Db } from "../../db/client.ts";
import { hasId } from "../../db/fragments.ts";
import { hooks } from "../../db/schema.ts";
import type { Hook as TurnHook } from "../../turn/types.ts";
import { type AgentRow, findAgent, writeAgent } from "../agents/index.ts";
import { unusableTools } from "../tools/index.ts";
import { asksAgent, lastPosition, mostHooks, replacingProblem } from "./rules.ts";
import type { Hook, HookChanges, NewHook } from "./schema.ts";

type HookRow = typeof hooks.$inferSelect;

/** All hooks of an agent, in their order. Throws the 404. */
export async function listHooks(ctx: Ctx, slug: string): Promise<Hook[]> {
  const { id } = await findAgent(ctx, slug);
  return (await hooksOf(ctx.db, id)).map(toHook);
}

/**
 * Creates a hook, after all others unless `position` is given. Throws the 404 of the agent; 400 for a tool that the
 * agent can't have, for `mutates` with another event than `response_generated`, and for too many hooks.
 */
export async function createHook(ctx: Ctx, slug: string, input: NewHook): Promise<Hook> {
  const id = newId();
  const { event, actionConfig } = input;
  const summary = { hookId: id, event, toolName: actionConfig.toolName };
  return writeAgent(ctx, slug, { action: "agent.hook.create", summary }, async (tx, agent) => {
    requireReplacing(input);
    await requireTool(tx, ctx, agent, actionConfig.toolName);
    const others = await hooksOf(tx, agent.id);
    if (others.length >= mostHooks) {
      throw new EngineError("bad-request", `An agent has at most ${mostHooks} hooks: delete one first`);
    }
    const position = input.position ?? Math.min(lastPosition, (others.at(-1)?.position ?? -1) + 1);
    const author = authorOf(ctx);
    const row = { ...input, id, agentId: agent.id, position, createdBy: author, updatedBy: author };
    return one(await tx.insert(hooks).values(row).returning());
  });
}

/**
 * Changes the given fields; `actionConfig` is replaced as a whole. Throws the 404 of agent and hook, and 400 as
 * `createHook` does.
 */
export async function updateHook(ctx: Ctx, slug: string, id: string, changes: HookChanges): Promise<Hook> {
  const changed: Changes = {};
  const summary = { hookId: id, argsReplaced: false };
  const unchanged = () => !summary.argsReplaced && Object.keys(changed).length === 0;
  const change = { action: "agent.hook.update", summary, changes: changed, unchanged };
  return writeAgent(ctx, slug, change, async (tx, agent) => {
    const stored = await findHook(tx, agent, id);
    const toolName = changes.actionConfig?.toolName;
    // The tool is checked only when it changes, so that a hook with a removed tool can still be changed.
    if (toolName !== undefined && toolName !== toHook(stored).actionConfig.toolName) {
      await requireTool(tx, ctx, agent, toolName);
    }
    requireReplacing({ event: changes.event ?? stored.event, mutates: changes.mutates ?? stored.mutates });
    const columns = { ...changes, updatedBy: authorOf(ctx), updatedAt: sql`now()` };
    const updated = one(await tx.update(hooks).set(columns).where(eq(hooks.id, stored.id)).returning());
    const before = toHook(stored);
    Object.assign(changed, changesBetween(withoutArgs(before), withoutArgs(updated)));
    summary.argsReplaced = Object.keys(changesBetween(before.actionConfig, updated.actionConfig)).includes("args");
    return updated;
  });
}

/** A hook for the audit log, without its arguments, which may contain anything. */
const withoutArgs = ({ actionConfig, ...hook }: Hook) => ({ ...hook, toolName: actionConfig.toolName });

/** Deletes a hook. Throws the 404 of agent and hook. */
export async function deleteHook(ctx: Ctx, slug: string, id: string): Promise<void> {
  const summary = { hookId: id };
  await writeAgent(ctx, slug, { action: "agent.hook.delete", summary }, async (tx, agent) => {
    const stored = await findHook(tx, agent, id);
    await tx.delete(hooks).where(eq(hooks.id, stored.id));
  });
}

/** The stored hooks of an agent, in their order. */
export function hooksOf(db: Db, agentId: string): Promise<HookRow[]> {
  const order = [asc(hooks.position), asc(hooks.createdAt), asc(hooks.id)];
  return db
    .select()
    .from(hooks)
    .where(eq(hooks.agentId, agentId))
    .orderBy(...order);
}

async function findHook(tx: Db, agent: AgentRow, id: string): Promise<HookRow> {
  const [row] = await tx
    .select()
    .from(hooks)
    .where(and(hasId(hooks.id, id), eq(hooks.agentId, agent.id)));
  if (!row) throw notFound("Hook");
  return row;
}

function requireReplacing(hook: Pick<HookRow, "event" | "mutates">): void {
  const problem = replacingProblem(hook);
  if (problem !== null) throw new EngineError("bad-request", `mutates: ${problem}`);
}

async function requireTool(
  tx: Db,
  ctx: Ctx,
  { id, workspaceId, organizationId }: AgentRow,
  name: string,
): Promise<void> {
  if (asksAgent(name)) throw new EngineError("bad-request", "actionConfig.toolName: a hook can't ask an agent");
  const unusable = await unusableTools(tx, ctx, { organizationId, agent: { id, workspaceId } }, [name]);
  if (unusable.length > 0) throw new EngineError("bad-request", `actionConfig.toolName: there is no tool ${name}`);
}

function one([row]: HookRow[]): Hook {
  if (!row) throw new Error("The hook is gone");
  return toHook(row);
}

/** A hook in its API form. */
export function toHook({ id, event, actionConfig, mutates, enabled, position, timeoutMs }: HookRow): Hook {
  const action = actionConfig as Hook["actionConfig"];
  return {
    id,
    event: event as Hook["event"],
    actionType: "tool" as const,
    actionConfig: { toolName: action.toolName, args: action.args },
    mutates,
    enabled,
    position,
    timeoutMs,
  };
}

/** An enabled hook, without its tool. */
type LoadedHook = Omit<TurnHook, "tool">;

/** The enabled hooks of an agent, in the order in which they run. */
export async function loadHooks(db: Db, agentId: string): Promise<LoadedHook[]> {
  const rows = await db
    .select()
    .from(hooks)
    .where(and(eq(hooks.agentId, agentId), eq(hooks.enabled, true)))
    .orderBy(asc(hooks.position), asc(hooks.createdAt), asc(hooks.id));
  return rows.map(({ id, event, actionConfig, mutates, timeoutMs }) => {
    const { toolName, args } = actionConfig as Pick<TurnHook, "toolName" | "args">;
    return { id, event: event as TurnHook["event"], toolName, args, mutates, timeoutMs };
  });
}
