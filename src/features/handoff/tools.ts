import { z } from "@hono/zod-openapi";
import { and, asc, eq, inArray, ne } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import type { ToolOwner } from "../../contribution.ts";
import { agents } from "../../db/schema.ts";
import type { Tool, ToolContext } from "../../turn/types.ts";
import { isAskable } from "../agents/index.ts";
import { agentTool, builtin } from "../tools/index.ts";
import type { Asker, Idempotency } from "../turns/index.ts";

/** A question of one agent to another. */
export interface Question {
  asker: Asker;
  /** The slug of the called agent. */
  slug: string;
  message: string;
  /** The thread, for which the called agent has its own conversation. Null: nothing is stored. */
  thread: { id: string; parentId: string | null } | null;
  context: Pick<ToolContext, "toolCallId" | "signal" | "origin" | "emit"> &
    Partial<Pick<ToolContext, "turnId" | "requestId">>;
  /** Identifies the question, so that it is answered only once; absent for a question that is never repeated. */
  idempotency?: Idempotency;
}

/** Returns the called agent's reply; rejects with an `Error` whose message is for the calling model. */
export type Ask = (question: Question) => Promise<string>;

const input = z.object({
  message: z
    .string()
    .trim()
    .min(1)
    .max(32_768)
    .describe(
      "What to ask or to have done. The other agent knows nothing of this conversation but what it was asked before.",
    ),
});

/** The tool's extra time, in milliseconds: the called agent is stopped, and its end event sent, before the call ends. */
const graceMs = 1_000;

/** The named tools `agent:<slug>`, by slug, as far as their agents are in the owner's workspace and may be called. */
export async function askTools(
  { database, policies }: Pick<Services, "database" | "policies">,
  { named, ...asker }: ToolOwner,
  ask: Ask,
): Promise<Tool[]> {
  const slugs = named.flatMap((name) => (name.startsWith("agent:") ? [name.slice("agent:".length)] : []));
  if (slugs.length === 0) return [];
  const others = await database.db
    .select({ slug: agents.slug, name: agents.name, description: agents.description })
    .from(agents)
    .where(
      and(
        eq(agents.workspaceId, asker.workspaceId),
        inArray(agents.slug, slugs),
        ne(agents.id, asker.id),
        isAskable(database.db),
      ),
    )
    .orderBy(asc(agents.slug));
  return others.map((other) => {
    const { slug } = other;
    // The called agent may call external services, and may need a secret that the calling model knows.
    const tool = builtin({ ...agentTool(other), input, effect: "external", seesSecrets: true });
    return {
      ...tool.implement(async ({ message }, context) => {
        const { conversation } = context;
        const thread = conversation && { id: conversation.id, parentId: conversation.id };
        return { reply: await ask({ asker, slug, message, thread, context }) };
      }),
      timeoutMs: () => policies.values.agentCallTimeoutSeconds * 1000 + graceMs,
    };
  });
}
