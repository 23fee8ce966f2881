import { z } from "@hono/zod-openapi";
import { and, asc, eq, inArray, ne } from "drizzle-orm";
import type { Services } from "../../context.ts";
import type { ToolOwner } from "../../contribution.ts";
import { agents } from "../../db/schema.ts";
import type { Tool, ToolContext } from "../../turn/types.ts";
import { agentTool, builtin } from "../tools/index.ts";
import type { Asker } from "../turns/index.ts";

/** What one agent asks another in the middle of its own turn. */
export interface Question {
  asker: Asker;
  /** Who is asked. */
  slug: string;
  message: string;
  context: ToolContext;
}

/** Answers what the other agent says; rejects with an `Error` that tells the asking model why it says nothing. */
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

/** For the other agent to be stopped and to be heard of before the call itself is cut off. */
const graceMs = 1_000;

/** The tools `agent:<slug>` among those named that ask an agent which the owner can ask as things are, by slug. */
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
        eq(agents.active, true),
      ),
    )
    .orderBy(asc(agents.slug));
  return others.map((other) => {
    const { slug } = other;
    // The other agent may change something outside, and may need the very secret that this one was told.
    const tool = builtin({ ...agentTool(other), input, effect: "external", seesSecrets: true });
    return {
      ...tool.implement(async ({ message }, context) => ({ reply: await ask({ asker, slug, message, context }) })),
      timeoutMs: () => policies.values.agentCallTimeoutSeconds * 1000 + graceMs,
    };
  });
}
