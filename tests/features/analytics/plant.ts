import { eq } from "drizzle-orm";
import type { SubjectKey } from "../../../src/core/channels/subjects.ts";
import { newId } from "../../../src/core/ids.ts";
import { agents, toolCalls, turns } from "../../../src/db/schema.ts";
import { createRollUp } from "../../../src/features/analytics/roll-up.ts";
import type { Harness } from "../../harness.ts";

export interface Planted {
  at: string | Date;
  agent?: string;
  /** Null: of no stored conversation. */
  conversation?: string | null;
  subject?: SubjectKey;
  tools?: { name: string; status?: string; ms?: number }[];
  fields?: Partial<typeof turns.$inferInsert>;
}

/** Stores turns in their final state. */
export async function plantTurns(
  { services: { database } }: { services: Pick<Harness["services"], "database"> },
  all: readonly Planted[],
): Promise<void> {
  const known = await database.db.select().from(agents).orderBy(agents.createdAt);
  for (const { at, agent: slug, conversation = null, subject = "web:ada", tools = [], fields = {} } of all) {
    const agent = slug === undefined ? known[0] : known.find((one) => one.slug === slug);
    if (!agent) throw new Error("There is no such agent");
    const [id, createdAt] = [newId(), new Date(at)];
    ticket += 1;
    await database.db.insert(turns).values({
      id,
      agentId: agent.id,
      organizationId: agent.organizationId,
      conversationId: conversation,
      subject,
      status: "done",
      owner: newId(),
      leaseUntil: createdAt,
      door: "api",
      ticket,
      provider: "openai",
      model: "gpt-5-mini",
      promptTokens: 100,
      completionTokens: 10,
      messageCount: 2,
      durationMs: 1000,
      ttftMs: 200,
      createdAt,
      finishedAt: createdAt,
      ...fields,
    });
    for (const { name, status = "executed", ms = 50 } of tools) {
      const call = { id: newId(), turnId: id, agentId: agent.id, toolCallId: newId(), name, status, durationMs: ms };
      await database.db.insert(toolCalls).values({ ...call, createdAt });
    }
  }
}

/** No two turns of a conversation may have the same one. */
let ticket = 0;

/** Rolls up all possible turns. */
export async function rollUp({ services }: Harness): Promise<void> {
  for (let times = 0; times < 20; times += 1) await createRollUp(services)();
}

export async function endTurn({ services }: Harness, id: string): Promise<void> {
  const ended = { status: "done", promptTokens: 7, completionTokens: 3, messageCount: 2, durationMs: 5 } as const;
  await services.database.db.update(turns).set(ended).where(eq(turns.id, id));
}
