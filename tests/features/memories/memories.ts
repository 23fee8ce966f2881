import { desc, eq } from "drizzle-orm";
import type { SubjectKey } from "../../../src/core/channels/subjects.ts";
import { newId } from "../../../src/core/ids.ts";
import { agents, conversations, memories, messages, turns } from "../../../src/db/schema.ts";
import type { MemoryPage, SavedMemory } from "../../../src/features/memories/schema.ts";
import { type Fact, saveMemory } from "../../../src/features/memories/store.ts";
import { harness } from "../../harness.ts";

/** An agent with its row, and short forms of requests for its memories. */
export async function memoryHarness(fields: Record<string, unknown> = {}) {
  const h = await harness();
  const { slug, headers } = await h.agent(fields);
  const { database } = h.services;
  const find = async (wanted: string) => {
    const [row] = await database.db.select().from(agents).where(eq(agents.slug, wanted));
    if (!row) throw new Error(`There is no agent ${wanted}`);
    return row;
  };
  const agent = await find(slug);

  const list = async (query = "", as = headers) => {
    const response = await h.request(`/memories${query}`, { headers: as });
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    return (await response.json()) as MemoryPage;
  };

  return {
    ...h,
    database,
    agent,
    anotherAgent: h.agent,
    /** Another agent of the same organization, as its row. */
    createAgent: async (more: Record<string, unknown> = {}) => find((await h.agent(more)).slug),
    slug,
    headers,
    list,
    contents: async (query = "", as = headers) => (await list(query, as)).memories.map(({ content }) => content),
    post: (json: Record<string, unknown>, as = headers) =>
      h.request("/memories", { method: "POST", headers: as, json: { instanceId: slug, ...json } }),
    add: async (json: Record<string, unknown>): Promise<SavedMemory> => {
      const response = await h.request("/memories", { method: "POST", headers, json: { instanceId: slug, ...json } });
      if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
      return response.json();
    },
    forget: (path = "", as = headers) => h.request(`/memories${path}`, { method: "DELETE", headers: as }),
    save: (content: string, more: Partial<Fact> = {}) =>
      saveMemory(database, { agent, subject: "web:ada", content, ...more }),
    rows: () => database.db.select().from(memories).orderBy(desc(memories.updatedAt), desc(memories.id)),
  };
}

export type MemoryHarness = Awaited<ReturnType<typeof memoryHarness>>;

export type Exchange = readonly [asked: string | null, answered: string, subject?: SubjectKey];

interface Circumstances {
  subject?: SubjectKey;
  channel?: string;
  source?: "user" | "webhook" | "room" | "scheduled";
  provider?: string;
}

/** A conversation with turns as the chat stores them, from questions and answers. */
export async function converse(h: MemoryHarness, said: readonly Exchange[], circumstances: Circumstances = {}) {
  const { database, agent } = h;
  const { subject = "web:ada", channel = "web" } = circumstances;
  const conversationId = newId();
  const ref = `${agent.slug}:${channel}:${conversationId}`;
  const owned = { agentId: agent.id, organizationId: agent.organizationId, subject };
  await database.db.insert(conversations).values({ id: conversationId, ...owned, ref, channel, channelId: ref });
  const turnIds = await goOn(h, conversationId, said, circumstances);
  return { conversationId, ref, turnIds };
}

/** More turns of a conversation. */
export async function goOn(
  { database, agent }: MemoryHarness,
  conversationId: string,
  said: readonly Exchange[],
  { subject = "web:ada", source = "user", provider = "openai" }: Circumstances = {},
): Promise<string[]> {
  const found = eq(conversations.id, conversationId);
  const [before] = await database.db.select().from(conversations).where(found);
  let { lastSeq: seq, lastTicket: ticket } = before ?? { lastSeq: 0, lastTicket: 0 };
  const turnIds: string[] = [];
  for (const [asked, answered, by = subject] of said) {
    const turnId = newId();
    ticket += 1;
    const owned = { agentId: agent.id, organizationId: agent.organizationId, subject: by };
    const row = { id: turnId, ...owned, conversationId, ticket, source, provider, door: "native" };
    await database.db.insert(turns).values({ ...row, status: "done", owner: newId(), leaseUntil: new Date(0) });
    const parts = [
      ...(asked === null ? [] : [{ role: "user" as const, content: asked }]),
      { role: "assistant" as const, content: answered },
    ];
    for (const part of parts) {
      seq += 1;
      await database.db.insert(messages).values({ ...part, conversationId, turnId, seq });
    }
    turnIds.push(turnId);
  }
  await database.db.update(conversations).set({ lastSeq: seq, lastTicket: ticket, messageCount: seq }).where(found);
  return turnIds;
}
