import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, auditLogs, conversations, hookExecutions } from "../../../src/db/schema.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { address, conversationHarness, plant, root } from "./conversations.ts";

const rename = async (
  h: Awaited<ReturnType<typeof conversationHarness>>,
  ref: string,
  json: unknown,
  headers = h.admin,
) => h.request(address(ref), { method: "PATCH", headers, json });

describe("a conversation", () => {
  test("is found by its id", async () => {
    const h = await conversationHarness();
    const ref = await h.say("Hello");
    const response = await h.get(address(ref));
    expect(response.status).toBe(200);
    const { snippet, title, ...listed } = (await h.list()).conversations[0] ?? { snippet: "", title: "" };
    expect(snippet).toBeNull();
    const { conversation } = (await response.json()) as { conversation: object };
    expect(conversation).toEqual({ ...listed, title: expect.toBeOneOf([null, title]) });
  });

  test.each([
    "a b",
    "ä/ö",
    "50%",
    "%2F",
    "a?b#c",
    "..",
    "a:b:c",
    "😀",
    "'\"\\",
    "x".repeat(128),
  ])("of the chat %j is found, percent-encoded", async (chat) => {
    const h = await conversationHarness();
    const ref = await h.say("Hello", chat);
    expect(await (await h.get(address(ref))).json()).toMatchObject({ conversation: { conversationId: ref } });
    expect(await (await h.get(`${address(ref)}/messages`)).json()).toMatchObject({ total: 2 });
  });

  test.each([
    "nothing",
    "%00",
    "a%00b",
    "%ED%A0%80",
    "%",
    "%ZZ",
    "x".repeat(4_000),
    "..%2f..",
    ":",
    "%20",
  ])("with the id %s is not there", async (id) => {
    const h = await conversationHarness();
    for (const part of ["", "/messages", "/state", "/hooks"]) {
      const response = await h.get(`${root}/${id}${part}`);
      expect([part, response.status]).toEqual([part, 404]);
    }
    for (const init of [{ method: "DELETE" }, { method: "PATCH", json: { title: "x" } }]) {
      expect((await h.request(`${root}/${id}`, { ...init, headers: h.admin })).status).toBe(404);
    }
  });

  test("of other users is a 404, in the same words as a missing one", async () => {
    const h = await conversationHarness();
    const ref = await h.say("Hello");
    const foreign = await h.as("owner", { organization: await h.createOrganization("other") });
    const unreached = await h.as("viewer", { reach: false });
    const body = async (path: string, headers: Record<string, string>) => {
      const response = await h.get(path, headers);
      return [response.status, ((await response.json()) as { message: string }).message];
    };
    for (const headers of [foreign, unreached]) {
      for (const part of ["", "/messages", "/state", "/hooks"]) {
        expect(await body(`${address(ref)}${part}`, headers)).toEqual([404, "Conversation not found"]);
        expect(await body(`${address("nobody:web:x")}${part}`, headers)).toEqual([404, "Conversation not found"]);
      }
    }
    for (const init of [{ method: "DELETE" }, { method: "PATCH", json: { title: "Mine" } }]) {
      expect((await h.request(address(ref), { ...init, headers: foreign })).status).toBe(404);
    }
    expect((await h.stored()).conversations).toMatchObject([
      { ref, title: expect.not.stringMatching("Mine"), messageCount: 2 },
    ]);
  });

  test("is read by a Viewer, who changes nothing", async () => {
    const h = await conversationHarness();
    const ref = await h.say("Hello");
    const viewer = await h.as("viewer");
    for (const part of ["", "/messages", "/state", "/hooks"]) {
      expect((await h.get(`${address(ref)}${part}`, viewer)).status).toBe(200);
    }
    for (const role of ["viewer", "member"] as const) {
      const headers = await h.as(role);
      expect((await rename(h, ref, { title: "x" }, headers)).status).toBe(403);
      expect((await h.request(address(ref), { method: "DELETE", headers })).status).toBe(403);
    }
    expect((await h.list()).total).toBe(1);
  });
});

describe("renaming", () => {
  test("gives it a title, leaves its position in the list and is in the audit log", async () => {
    const h = await conversationHarness();
    const [older, newer] = [await h.say("Hello", "a"), await h.say("Hello", "b")];
    const response = await rename(h, older, { title: "  Invoice of October " });
    expect((await rename(h, older, { title: "Invoice of October" })).status).toBe(200);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      conversation: { conversationId: older, title: "Invoice of October" },
    });
    expect((await h.list()).conversations).toMatchObject([
      { conversationId: newer },
      { conversationId: older, title: "Invoice of October" },
    ]);
    const audited = await h.db.select().from(auditLogs).where(eq(auditLogs.action, "conversation.update"));
    // A title is made from an end user's words, which are deleted with the conversation.
    const summary = { conversationId: older, replaced: ["title"] };
    expect(audited.map((entry) => [entry.target, entry.summary])).toEqual([[h.agent.slug, summary]]);
  });

  test("makes no agent load anew", async () => {
    const h = await conversationHarness();
    const ref = await h.say("Hello");
    const revisions = () => h.db.select({ revision: agents.revision }).from(agents);
    const before = await revisions();
    await rename(h, ref, { title: "x" });
    await h.request(address(ref), { method: "DELETE", headers: h.admin });
    expect(await revisions()).toEqual(before);
  });

  test.each([
    {},
    { title: "" },
    { title: "  " },
    { title: "x".repeat(201) },
    { title: null },
    { title: "a\u0000" },
  ])("to %j is a 400", async (json) => {
    const h = await conversationHarness();
    const ref = await h.say("Hello");
    expect((await rename(h, ref, json)).status).toBe(400);
    expect(await h.db.select().from(auditLogs).where(eq(auditLogs.action, "conversation.update"))).toEqual([]);
  });
});

describe("state", () => {
  test("is shown without what is private", async () => {
    const h = await conversationHarness();
    const ref = await h.say("Hello");
    const state = { customer: { id: "c-42" }, list: [1, null, "ü"], _private: { token: "canary" }, _other: true };
    await h.db.update(conversations).set({ state });
    const response = await h.get(`${address(ref)}/state`);
    const { _private, ...shown } = state;
    expect(await response.json()).toEqual({ state: shown });
  });

  test("is empty at first", async () => {
    const h = await conversationHarness();
    const ref = await h.say("Hello");
    expect(await (await h.get(`${address(ref)}/state`)).json()).toEqual({ state: {} });
  });
});

describe("hook executions", () => {
  test("come in order, the newest of many", async () => {
    const h = await conversationHarness(scriptedModel(() => reply("Yes")));
    const ref = await h.say("Hello");
    await plant(h, ["another conversation"]);
    const rows = await h.db.select({ id: conversations.id, ref: conversations.ref }).from(conversations);
    const mine = rows.find((row) => row.ref === ref)?.id ?? "";
    const theirs = rows.find((row) => row.ref !== ref)?.id ?? "";
    const hookId = newId();
    const execution = (conversationId: string, turn: number, position: number, turnId = newId()) => ({
      id: newId(),
      conversationId,
      turnId,
      hookId,
      position,
      event: "message_received",
      toolName: `t${turn}.${position}`,
      success: position !== 1,
      error: position === 1 ? "It failed" : null,
      durationMs: 12,
      args: { n: turn },
      result: position === 1 ? null : ["ok"],
      createdAt: new Date(Date.UTC(2026, 10, 1, 0, 0, turn)),
    });
    const turns = Array.from({ length: 75 }, (_, turn) => {
      const turnId = newId();
      return [2, 0, 1].map((position) => execution(mine, turn, position, turnId));
    });
    await h.db.insert(hookExecutions).values([...turns.flat(), execution(theirs, 99, 0)]);

    const executions = async (query = "") => {
      const response = await h.get(`${address(ref)}/hooks${query}`);
      return ((await response.json()) as { executions: Record<string, unknown>[] }).executions;
    };
    const all = await executions();
    expect(all).toHaveLength(200);
    expect(all.slice(-3).map(({ toolName }) => toolName)).toEqual(["t74.0", "t74.1", "t74.2"]);
    expect(all.at(-2)).toEqual({
      id: expect.any(String),
      hookId,
      event: "message_received",
      toolName: "t74.1",
      success: false,
      error: "It failed",
      durationMs: 12,
      args: { n: 74 },
      result: null,
      createdAt: "2026-11-01T00:01:14.000Z",
    });
    const older = await executions("?offset=200");
    expect(older).toHaveLength(25);
    expect(older[0]?.toolName).toBe("t0.0");
    expect((await h.get(`${address(ref)}/hooks?limit=201`)).status).toBe(400);
  });
});
