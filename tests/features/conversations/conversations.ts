import { eq } from "drizzle-orm";
import { newId } from "../../../src/core/ids.ts";
import { agents, conversations, messages } from "../../../src/db/schema.ts";
import { searchColumn, searchWords } from "../../../src/features/conversations/index.ts";
import type { harness } from "../../harness.ts";
import { reply, type ScriptedModel, scriptedModel } from "../../scripted-model.ts";
import { type ChatHarness, chatHarness } from "../chat/chat.ts";

export const root = "/api/conversations";
export const address = (ref: string) => `${root}/${encodeURIComponent(ref)}`;

type Headers = Record<string, string>;

/** An agent that answers, and calls of the conversations API by an Admin of its organization. */
export async function conversationHarness(
  model: ScriptedModel | undefined = scriptedModel(() => reply("Noted.")),
  fields: Record<string, unknown> = {},
  options: Parameters<typeof harness>[0] = {},
) {
  const h = await chatHarness(model, fields, options);
  const admin = await h.as("admin");
  const { db } = h.services.database;

  const get = (path: string, headers: Headers = admin) => h.request(path, { headers });
  const list = async (query: Record<string, string | number> = {}, headers: Headers = admin) => {
    const parameters = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    const response = await get(`${root}?${parameters}`, headers);
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    return (await response.json()) as Listed;
  };
  /** A turn in the conversation of this chat id; answers the conversation's id. */
  const say = async (content: string, chatId = "c"): Promise<string> => {
    const response = await h.complete(content, { chat_id: chatId });
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    await response.text();
    return refOf(h, chatId);
  };
  /** Another agent of the organization; answers its slug. */
  const another = async (slug: string): Promise<string> => {
    const headers = await h.as("owner");
    const response = await h.request("/api/instances", { method: "POST", headers, json: { slug } });
    if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
    return slug;
  };
  return { ...h, db, admin, get, list, say, another };
}

export const refOf = (h: Pick<ChatHarness, "agent">, chatId: string) => `${h.agent.slug}:web:api-${chatId}`;

interface Listed {
  conversations: (Record<string, unknown> & { conversationId: string; snippet: string | null })[];
  total: number;
  limit: number;
  offset: number;
}

type ConversationHarness = Awaited<ReturnType<typeof conversationHarness>>;

/**
 * Inserts conversations without turns, each with one message of `contents`. Not `indexed`: as by a server of an earlier
 * release on this release's database.
 */
export async function plant(
  { db, agent }: ConversationHarness,
  contents: readonly string[],
  { indexed = true, ...fields }: { indexed?: boolean; [field: string]: unknown } = {},
) {
  const [row] = await db.select().from(agents).where(eq(agents.slug, agent.slug));
  if (!row) throw new Error("There is no agent");
  const planted = contents.map((content, index) => ({
    content,
    id: newId(),
    channelId: `planted-${index}-${newId()}`,
  }));
  const common = {
    agentId: row.id,
    organizationId: row.organizationId,
    channel: "web",
    subject: "web:ada" as const,
    messageCount: 1,
  };
  await db.insert(conversations).values(
    planted.map(({ id, channelId }) => ({
      ...common,
      id,
      channelId,
      ref: `${agent.slug}:web:${channelId}`,
      ...fields,
    })),
  );
  await db.insert(messages).values(
    planted.map(({ id, content }) => {
      const search = indexed ? { search: searchColumn(searchWords(content)) } : {};
      return { conversationId: id, seq: 1, role: "user" as const, content, ...search };
    }),
  );
}
