import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { toolCalls } from "../../../src/db/schema.ts";
import { finish, reply, scriptedModel, toolCall } from "../../scripted-model.ts";
import { chatHarness, readEvents } from "./chat.ts";

const url = "https://shop.example/pay";

interface Page {
  approvals: Record<string, unknown>[];
  total: number;
  limit: number;
  offset: number;
}

/** An agent whose every turn stops at two calls. */
async function asking() {
  const model = scriptedModel(({ prompt }) =>
    JSON.stringify(prompt.at(-1)).includes("pay")
      ? {
          parts: [
            ...toolCall("a", "httpRequest", { url }),
            ...toolCall("b", "httpRequest", { url, method: "POST" }),
            finish("tool-calls"),
          ],
        }
      : reply("Hello."),
  );
  const h = await chatHarness(model);
  const { slug, headers } = h.agent;
  const json = { enabled: ["httpRequest"], needsApproval: ["httpRequest"] };
  await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json });
  const list = async (query = "", asker = headers): Promise<Page> => {
    const response = await h.request(`/api/approvals${query}`, { headers: asker });
    expect(response.status).toBe(200);
    return response.json();
  };
  return { ...h, list };
}

const ask = async (h: Awaited<ReturnType<typeof asking>>, chat: string, extra: object = {}) =>
  readEvents(await h.native("Please pay", { chat_id: chat, ...extra }));

test("calls that wait are listed for who may read the conversations, the oldest first, in pages", async () => {
  const h = await asking();
  expect(await h.list()).toEqual({ approvals: [], total: 0, limit: 20, offset: 0 });
  await ask(h, "one", { user: "ada" });
  await ask(h, "two");
  const page = await h.list("?status=pending&limit=3", await h.as("viewer"));
  expect(page).toMatchObject({ total: 4, limit: 3, offset: 0 });
  const [first] = page.approvals;
  expect(first).toEqual({
    conversationId: `${h.agent.slug}:web:api-one`,
    instanceId: h.agent.slug,
    toolCallId: expect.stringMatching(/^call_/),
    toolName: "httpRequest",
    args: expect.objectContaining({ url }),
    requestedAt: expect.stringMatching(/Z$/),
    expiresAt: expect.stringMatching(/Z$/),
    user: "ada",
    userChannel: "web",
  });
  const lifetime = Date.parse(String(first?.expiresAt)) - Date.parse(String(first?.requestedAt));
  expect(Math.abs(lifetime - 24 * 60 * 60 * 1000)).toBeLessThan(60_000);
  const rest = await h.list("?limit=3&offset=3");
  expect(rest).toMatchObject({ total: 4, offset: 3, approvals: [{ user: null }] });
  const ids = [...page.approvals, ...rest.approvals].map(({ toolCallId }) => toolCallId);
  expect(new Set(ids).size).toBe(4);
  expect([...page.approvals, ...rest.approvals].map(({ conversationId }) => conversationId)).toEqual(
    ["one", "one", "two", "two"].map((chat) => `${h.agent.slug}:web:api-${chat}`),
  );
});

test("calls decided, refused by the next message, or expired no longer wait", async () => {
  const h = await asking();
  for (const chat of ["decided", "refused", "expired"]) await ask(h, chat);
  const [one] = (await h.list()).approvals;
  const path = `/api/conversations/${encodeURIComponent(String(one?.conversationId))}/approvals/${one?.toolCallId}`;
  const decided = await h.request(path, { method: "POST", headers: h.agent.headers, json: { approved: false } });
  expect(decided.status).toBe(201);
  expect((await h.list()).total).toBe(5);
  await (await h.native("Never mind", { chat_id: "refused" })).text();
  expect((await h.list()).total).toBe(3);
  const { approvals } = await h.list("?offset=1");
  const late = { expiresAt: new Date(Date.now() - 1000) };
  for (const { toolCallId } of approvals) {
    await h.services.database.db
      .update(toolCalls)
      .set(late)
      .where(eq(toolCalls.toolCallId, String(toolCallId)));
  }
  expect((await h.list()).approvals.map(({ conversationId }) => conversationId)).toEqual([one?.conversationId]);
});

test("calls out of reach are not listed, and an agent out of reach gets 404", async () => {
  const h = await asking();
  await ask(h, "one");
  const stranded = await h.as("member", { reach: false });
  const stranger = await h.as("owner", { organization: await h.createOrganization("other") });
  for (const headers of [stranded, stranger]) {
    expect(await h.list("", headers)).toMatchObject({ approvals: [], total: 0 });
    expect((await h.request(`/api/approvals?instanceId=${h.agent.slug}`, { headers })).status).toBe(404);
  }
  const another = await h.anotherAgent();
  expect((await h.list(`?instanceId=${another.slug}`)).total).toBe(0);
  expect((await h.list(`?instanceId=${h.agent.slug}`)).total).toBe(2);
  for (const query of ["status=approved", "limit=0", "limit=101", "offset=-1", "instanceId=%00"]) {
    expect([query, (await h.request(`/api/approvals?${query}`, { headers: h.agent.headers })).status]).toEqual([
      query,
      400,
    ]);
  }
  expect((await h.request("/api/approvals")).status).toBe(401);
});
