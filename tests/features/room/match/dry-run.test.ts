import { describe, expect, test } from "vitest";
import { agents, jobs, roomEvents } from "../../../../src/db/schema.ts";
import { reply } from "../../../scripted-model.ts";
import { answering, matching } from "./matching.ts";

async function trying(...[script, options]: Parameters<typeof matching>) {
  const h = await matching(script, options);
  const tryOut = async (payload: unknown) => {
    const response = await h.post("/dry-run", { payload });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return { ...h, tryOut };
}

describe("a dry run", () => {
  test("says what an event would lead to, and does nothing", async () => {
    const h = await trying(answering([reply("no"), reply("yes"), reply("no"), reply("no")]));
    const bugs = await h.define({ name: "Bugs" });
    const id = await h.define({ action: "backlog", interpretationPrompt: "Order {{payload.n}} came." });
    const { status, body } = await h.tryOut({ n: 7 });
    expect(status).toBe(200);
    expect(body).toEqual({
      outcome: "backlog",
      definition: { id, name: "Orders", action: "backlog" },
      verdicts: [
        { definitionId: bugs, answer: "no", matched: false, at: "2026-01-01T00:00:00.000Z" },
        { definitionId: id, answer: "yes", matched: true, at: "2026-01-01T00:00:00.000Z" },
      ],
      prompt: expect.stringMatching(/^Order <<[0-9a-f]{24} 7 [0-9a-f]{24}>> came\./),
      reason: null,
    });
    expect((await h.tryOut(null)).body).toMatchObject({ outcome: "no-match", definition: null, prompt: null });
    expect(await h.db.$count(roomEvents)).toBe(0);
    expect(await h.entries()).toEqual([]);
    expect(await h.db.$count(jobs)).toBe(0);
    expect(await h.turns()).toEqual([]);
  });

  test("of a conversation shows what the turn would begin with", async () => {
    const h = await trying(null, { room: null });
    const id = await h.define({ contextPrompt: "Have a look." });
    const { body } = await h.tryOut("an order");
    expect(body).toMatchObject({ outcome: "conversation", definition: { id, action: "conversation" }, reason: null });
    expect(body.prompt).toMatch(/^Have a look\.\n\n.+\n"an order"\n[0-9a-f]{24}>>$/s);
  });

  test.each([
    ["a Room that is off", { room: { enabled: false } }, "room-off", "The Room is off"],
    ["no Room", { room: null }, "room-off", "The Room is off"],
    ["a full Room", { room: { pendingCount: 100 } }, "backlog-full", "The backlog holds 100 pending entries"],
    [
      "a spent budget",
      { agent: { monthlyTokenBudget: 1 } },
      "matcher-failed",
      "The agent's monthly token budget is used up",
    ],
  ])("for %s says why nothing would be done", async (_label, options, outcome, reason) => {
    const h = await trying(null, options);
    await h.define({ action: "backlog" });
    expect((await h.tryOut("order")).body).toMatchObject({ outcome, reason });
  });

  test("of an inactive agent, and of a model that fails, says so", async () => {
    const broken = { fail: Object.assign(new Error("sk-secret is wrong"), { statusCode: 400 }) };
    const h = await trying(answering([broken]));
    await h.define();
    const failed = await h.tryOut(1);
    expect(failed.body).toMatchObject({ outcome: "matcher-failed", verdicts: [] });
    expect(failed.body.reason).toMatch(/^Model provider error/);
    expect(JSON.stringify(failed.body)).not.toContain("sk-secret");
    await h.db.update(agents).set({ active: false });
    expect((await h.tryOut(1)).body).toMatchObject({ outcome: "room-off", reason: "The agent is inactive" });
  });

  test.each([
    ["none", {}, "payload is required"],
    ["a huge one", { payload: "x".repeat(70_000) }, /^payload must be at most 65536 bytes/],
    [
      "a deep one",
      { payload: JSON.parse(`${"[".repeat(300)}${"]".repeat(300)}`) },
      /^payload must not be nested deeper/,
    ],
    ["one that can't be stored", { payload: "\u0000" }, /^payload must not contain NUL/],
  ])("refuses %s", async (_label, body, message) => {
    const h = await trying(answering([]));
    const response = await h.post("/dry-run", body);
    expect(response.status).toBe(400);
    const { issues } = (await response.json()) as { issues: { path: string; message: string }[] };
    const [issue] = issues;
    expect(`${issue?.path} ${issue?.message}`).toMatch(message);
  });

  test("is only for callers with agent.room:write, of sources within reach", async () => {
    const h = await trying(answering([]));
    const viewer = await h.as("viewer");
    const asked = { method: "POST", json: { payload: 1 } };
    expect((await h.request(`${h.base}/dry-run`, { ...asked, headers: viewer })).status).toBe(403);
    const other = await h.another({});
    const foreign = h.base.replace(h.slug, other.slug);
    expect((await h.request(`${foreign}/dry-run`, { ...asked, headers: other.headers })).status).toBe(404);
  });
});
