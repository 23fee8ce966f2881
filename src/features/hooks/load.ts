import { and, asc, eq } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { hooks } from "../../db/schema.ts";
import type { Hook } from "../../turn/types.ts";

/** An enabled hook, without its tool. */
export type LoadedHook = Omit<Hook, "tool">;

/** The enabled hooks of an agent, in the order in which they run. */
export async function loadHooks(db: Db, agentId: string): Promise<LoadedHook[]> {
  const rows = await db
    .select()
    .from(hooks)
    .where(and(eq(hooks.agentId, agentId), eq(hooks.enabled, true)))
    .orderBy(asc(hooks.position), asc(hooks.createdAt), asc(hooks.id));
  return rows.map(({ id, event, actionConfig, mutates, timeoutMs }) => {
    const { toolName, args } = actionConfig as Pick<Hook, "toolName" | "args">;
    return { id, event: event as Hook["event"], toolName, args, mutates, timeoutMs };
  });
}
