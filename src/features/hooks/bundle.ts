import { eq } from "drizzle-orm";
import { authorOf, type Ctx } from "../../context/ctx.ts";
import type { ImportNotes } from "../../core/bundle.ts";
import { newId } from "../../core/ids.ts";
import { asJson, sameJson } from "../../core/json.ts";
import type { Db } from "../../db/client.ts";
import { hooks } from "../../db/schema.ts";
import type { AgentRow } from "../agents/index.ts";
import { unusableTools } from "../tools/index.ts";
import { asksAgent, lastPosition } from "./rules.ts";
import type { Hook, NewHook } from "./schema.ts";
import { hooksOf, toHook } from "./service.ts";

type BundledHook = Omit<Hook, "id">;

/** The hooks of an agent, in order, for a bundle. */
export async function exportHooks(db: Db, agentId: string): Promise<BundledHook[]> {
  return (await hooksOf(db, agentId)).map((row) => withoutId(toHook(row)));
}

function withoutId({ id: _own, ...hook }: Hook): BundledHook {
  return hook;
}

/** The hooks in stored form and order. A hook without a position comes after those before it. */
export function placeHooks(wanted: readonly NewHook[]): BundledHook[] {
  let last = -1;
  const placed = wanted.map((hook) => {
    const { event, actionType, actionConfig, mutates, enabled, timeoutMs } = hook;
    const position = hook.position ?? Math.min(lastPosition, last + 1);
    last = Math.max(last, position);
    return { event, actionType, actionConfig, mutates, enabled, position, timeoutMs };
  });
  return placed.sort((a, b) => a.position - b.position);
}

/**
 * Gives an agent exactly these hooks, in a transaction of `writeAgent`. A hook whose tool the agent can't have is
 * turned off, unless the agent already had a hook with this tool.
 */
export async function importHooks(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  wanted: readonly NewHook[],
  notes: ImportNotes,
): Promise<void> {
  const stored = (await hooksOf(tx, agent.id)).map(toHook);
  const placed = placeHooks(await withUsableTools(tx, ctx, agent, wanted, stored, notes));
  if (isSame(stored.map(withoutId), placed)) return;
  await tx.delete(hooks).where(eq(hooks.agentId, agent.id));
  if (placed.length === 0) return;
  const author = authorOf(ctx);
  const rows = placed.map((hook, index) => {
    // An unchanged hook keeps its id, which transcripts contain.
    const at = stored.findIndex((one) => isSame([withoutId(one)], [hook]));
    const id = stored.splice(at, at < 0 ? 0 : 1)[0]?.id ?? newId();
    // Hooks in equal positions are ordered by age.
    const createdAt = new Date(ctx.clock.now() + index);
    return { ...hook, id, agentId: agent.id, createdBy: author, updatedBy: author, createdAt };
  });
  await tx.insert(hooks).values(rows);
}

const isSame = (one: readonly BundledHook[], other: readonly BundledHook[]) => sameJson(asJson(one), asJson(other));

async function withUsableTools(
  tx: Db,
  ctx: Ctx,
  { id, workspaceId, organizationId }: AgentRow,
  wanted: readonly NewHook[],
  stored: readonly Hook[],
  notes: ImportNotes,
): Promise<NewHook[]> {
  const names = [...new Set(wanted.map(({ actionConfig }) => actionConfig.toolName))];
  const had = new Set(stored.map(({ actionConfig }) => actionConfig.toolName));
  const user = { organizationId, agent: { id, workspaceId } };
  const unusable = new Set(await unusableTools(tx, ctx, user, names));
  return wanted.map((hook, index) => {
    const { toolName } = hook.actionConfig;
    const asks = asksAgent(toolName);
    if (!asks && (!unusable.has(toolName) || had.has(toolName))) return hook;
    const reason = asks ? "A hook can't ask an agent" : `The agent can't have the tool ${toolName}`;
    notes.warn("tool_unusable", ["instance", "hooks", index], `${reason}: the hook is imported, and off`);
    return { ...hook, enabled: false };
  });
}
