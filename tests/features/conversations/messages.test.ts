import { and, asc, eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { conversations, files, messages } from "../../../src/db/schema.ts";
import type { Message } from "../../../src/features/conversations/schema.ts";
import { finish, reasoning, reply, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { address, conversationHarness } from "./conversations.ts";

interface Page {
  messages: Message[];
  total: number;
  limit: number;
}

const read = async (h: Awaited<ReturnType<typeof conversationHarness>>, ref: string, query = "") => {
  const response = await h.get(`${address(ref)}/messages${query}`);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Page;
};

test("shows the messages, with the steps before them and their tokens", async () => {
  const model = scriptedModel([
    {
      parts: [
        reasoning("The time?"),
        text("Let me look. "),
        toolCall("call_1", "currentTime", { timezone: "Europe/Zurich" }),
        finish("tool-calls", { input: 20, output: 5 }),
      ],
    },
    { parts: [text("It is noon."), finish("stop", { input: 30, output: 4 })] },
  ]);
  const h = await conversationHarness(model);
  const headers = await h.as("owner");
  const tools = `/api/instances/${h.agent.slug}/tools`;
  await h.request(tools, { method: "PATCH", headers, json: { enabled: ["currentTime"] } });
  const ref = await h.say("What time is it?");
  const page = await read(h, ref);
  expect(page).toMatchObject({ total: 2, limit: 50, offset: 0, order: "asc" });
  const [question, answer] = page.messages;
  expect(question).toEqual({
    id: expect.any(String),
    role: "user",
    content: "What time is it?",
    steps: [],
    reasoning: null,
    attachments: [],
    metadata: {},
    promptTokens: 0,
    completionTokens: 0,
    createdAt: expect.stringMatching(/Z$/),
  });
  expect(answer).toEqual({
    id: expect.any(String),
    role: "assistant",
    content: "Let me look. It is noon.",
    reasoning: "The time?",
    attachments: [],
    metadata: {},
    promptTokens: 50,
    completionTokens: 9,
    createdAt: expect.any(String),
    steps: [
      {
        index: 0,
        stepType: "initial",
        text: "Let me look. ",
        reasoning: "The time?",
        toolCalls: [{ toolCallId: "call_1", toolName: "currentTime", args: { timezone: "Europe/Zurich" } }],
        toolResults: [{ toolCallId: "call_1", result: expect.objectContaining({ timezone: "Europe/Zurich" }) }],
        finishReason: "tool-calls",
        durationMs: expect.any(Number),
      },
      {
        index: 1,
        stepType: "tool-result",
        text: "It is noon.",
        reasoning: "",
        toolCalls: [],
        toolResults: [],
        finishReason: "stop",
        durationMs: expect.any(Number),
      },
    ],
  });
});

/** A model that repeats the last message. */
const echo = () =>
  scriptedModel(({ prompt }) => {
    const said = prompt.at(-1)?.content;
    const part = typeof said === "string" ? undefined : said?.[0];
    return reply(`re ${part?.type === "text" ? part.text : ""}`);
  });

test("comes in pages from either end", async () => {
  const h = await conversationHarness(echo());
  let ref = "";
  for (const n of [0, 1, 2]) ref = await h.say(`q${n}`);
  const contents = async (query: string) => (await read(h, ref, query)).messages.map(({ content }) => content);
  expect(await contents("")).toEqual(["q0", "re q0", "q1", "re q1", "q2", "re q2"]);
  expect(await contents("?order=desc&limit=2")).toEqual(["re q2", "q2"]);
  expect(await contents("?limit=2&offset=3")).toEqual(["re q1", "q2"]);
  expect(await read(h, ref, "?limit=2&offset=900")).toMatchObject({ messages: [], total: 6, offset: 900 });
  for (const query of ["limit=0", "limit=201", "order=newest", "offset=-1", "offset=x"]) {
    expect((await h.get(`${address(ref)}/messages?${query}`)).status).toBe(400);
  }
});

test("never takes more out of the database than a page", async () => {
  const h = await conversationHarness();
  const ref = await h.say("Hello");
  const [conversation] = await h.db.select().from(conversations).where(eq(conversations.ref, ref));
  await h.db.execute(sql`
    insert into messages (id, conversation_id, seq, role, content)
    select gen_random_uuid(), ${conversation?.id}::uuid, n, 'user', 'message ' || n from generate_series(3, 5000) n`);
  await h.db.update(conversations).set({ messageCount: 5000 });
  const { database } = h.services;
  const answered: number[] = [];
  const select = database.db.select.bind(database.db);
  Object.assign(database.db, {
    select: (...args: Parameters<typeof select>) => {
      const builder = select(...args);
      const from = builder.from.bind(builder);
      return Object.assign(builder, {
        from: (...tables: Parameters<typeof from>) => {
          const query = from(...tables) as { execute: (...given: unknown[]) => Promise<unknown[]> };
          const execute = query.execute.bind(query);
          query.execute = async (...given) => {
            const rows = await execute(...given);
            answered.push(rows.length);
            return rows;
          };
          return query;
        },
      });
    },
  });
  const page = await read(h, ref, "?limit=200&offset=4900");
  expect(page).toMatchObject({ total: 5000 });
  expect(page.messages.map(({ content }) => content).slice(0, 2)).toEqual(["message 4901", "message 4902"]);
  expect(page.messages).toHaveLength(100);
  expect(Math.max(...answered)).toBe(100);
  expect((await read(h, ref, "?limit=200")).messages).toHaveLength(200);
  expect(Math.max(...answered)).toBe(200);
});

test("ends a page early when results of tools are long, and says where the next one begins", async () => {
  const h = await conversationHarness();
  const ref = await h.say("Hello");
  const [conversation] = await h.db.select().from(conversations).where(eq(conversations.ref, ref));
  await h.db.execute(sql`
    insert into messages (id, conversation_id, seq, role, content, steps)
    select gen_random_uuid(), ${conversation?.id}::uuid, n, 'assistant', 'reply ' || n,
      jsonb_build_array(jsonb_build_object('toolResults', jsonb_build_array(jsonb_build_object('result', repeat('x', 3000000)))))
    from generate_series(3, 8) n`);
  await h.db.update(conversations).set({ messageCount: 8 });
  const seen: string[] = [];
  const pages: number[] = [];
  for (let offset = 0; offset < 8; ) {
    const { messages: found, limit } = await read(h, ref, `?limit=200&offset=${offset}`);
    seen.push(...found.map(({ content }) => content));
    pages.push(found.length);
    offset += limit;
  }
  expect(seen).toEqual(["Hello", "Noted.", ...[3, 4, 5, 6, 7, 8].map((n) => `reply ${n}`)]);
  expect(pages).toEqual([4, 2, 2]);
  expect(await read(h, ref, "?limit=5&order=desc")).toMatchObject({
    limit: 2,
    messages: [{ content: "reply 8" }, { content: "reply 7" }],
  });
});

test("shows the files of each message, those that are stored", async () => {
  const h = await conversationHarness();
  const ref = await h.say("Look at these");
  const [row] = await h.db.select().from(conversations).where(eq(conversations.ref, ref));
  const [question] = await h.db
    .select()
    .from(messages)
    .where(and(eq(messages.conversationId, row?.id ?? ""), eq(messages.role, "user")))
    .orderBy(asc(messages.seq));
  if (!row || !question) throw new Error("There is no message");
  const file = (name: string, status: "stored" | "pending" | "deleting", messageId: string | null) => {
    const id = newId();
    const owner = { organizationId: row.organizationId, agentId: row.agentId, conversationId: row.id, messageId };
    const stored = { mime: "image/png", size: 7, sha256: "00", store: "directory" as const, storageKey: id };
    return { ...owner, ...stored, id, name, status };
  };
  const rows = [file("a.png", "stored", question.id), file("b.png", "stored", question.id)];
  const unseen = [file("c", "pending", question.id), file("d", "deleting", question.id), file("e", "stored", null)];
  await h.db.insert(files).values([...rows, ...unseen]);
  const { messages: shown } = await read(h, ref);
  expect(shown[0]?.attachments).toEqual(
    rows.map(({ id, name }) => ({ id, name, mime: "image/png", size: 7, url: `/api/files/${id}` })),
  );
  expect(shown[1]?.attachments).toEqual([]);
});

test("shows what is kept for debugging only while the agent's switch is on", async () => {
  const h = await conversationHarness();
  const ref = await h.say("Hello");
  await h.db.update(messages).set({ metadata: { stopped: "stop", debug: { system: "canary" } } });
  expect((await read(h, ref)).messages[1]?.metadata).toEqual({ stopped: "stop" });
  const change = async (debugEnabled: boolean) => {
    const init = { method: "PATCH", headers: await h.as("owner"), json: { debugEnabled } };
    expect((await h.request(`/api/instances/${h.agent.slug}`, init)).status).toBe(200);
  };
  await change(true);
  expect((await read(h, ref)).messages[1]?.metadata).toEqual({ stopped: "stop", debug: { system: "canary" } });
  await change(false);
  expect(JSON.stringify(await read(h, ref))).not.toContain("canary");
});
