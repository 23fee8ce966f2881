import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { CurrentPolicies } from "../../../src/core/policies.ts";
import { budgetPeriods, toolCalls, turns } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { reserve } from "../../../src/features/turns/budget/budget.ts";
import { dialect } from "../../database.ts";
import { finish, gate, scriptedModel, text } from "../../scripted-model.ts";
import { type ChatHarness, chatHarness, eventually, readEvents } from "./chat.ts";

const budget = { maxOutputTokens: 100, monthlyTokenBudget: 1_000_000 };

/** Runs `work` while the only conversation's row is locked; runs `look` once a statement waits for that lock. */
async function whileLocked(h: ChatHarness, work: () => Promise<unknown>, look: () => Promise<void>): Promise<void> {
  const { database } = h.services;
  let working: Promise<unknown> = Promise.resolve();
  await database.transaction(async (tx) => {
    await tx.execute(sql`select 1 from conversations for update`);
    working = work();
    await eventually(() => waits(h));
    await look();
  });
  await working;
}

/** Whether a statement of this database waits for a lock. */
async function waits({ services: { database } }: ChatHarness): Promise<boolean> {
  const rows = await database.query(
    "select 1 as one from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    [],
  );
  return rows.length > 0;
}

// The embedded database has a single session, in which no statement waits for a lock.
describe.runIf(dialect === "postgres")("rows are locked in one order", () => {
  test("a turn that is written down takes the budget before the conversation, as one that begins does", async () => {
    const held = gate();
    const h = await chatHarness(
      scriptedModel(() => ({ parts: [held.promise, text("Yes."), finish()] })),
      budget,
    );
    const { db } = h.services.database;
    const reading = h.native("Hi", { chat_id: "c" }).then(readEvents);
    await eventually(async () => (await h.stored()).turns.length > 0);
    await whileLocked(
      h,
      async () => held.open(),
      async () => expect(await db.select().from(budgetPeriods).for("update", { skipLocked: true })).toEqual([]),
    );
    expect((await reading).at(-1)?.event).toBe("done");
  });

  test("so does the closing of lost turns", async () => {
    const held = gate();
    const h = await chatHarness(
      scriptedModel(() => ({ parts: [held.promise, text("Yes."), finish()] })),
      budget,
    );
    const { db } = h.services.database;
    const reading = h.native("Hi", { chat_id: "c" }).then(readEvents);
    await eventually(async () => (await h.stored()).turns.length > 0);
    await db.update(turns).set({ leaseUntil: sql`now() - interval '1 s'` });
    await whileLocked(
      h,
      () => createEngine({ ...h.services, policies: new CurrentPolicies() }).tick(),
      async () => expect(await db.select().from(budgetPeriods).for("update", { skipLocked: true })).toEqual([]),
    );
    held.open();
    await reading;
  });

  test("a deletion takes nothing but the turns before the conversation", async () => {
    const call = { type: "tool-call", toolCallId: "t", toolName: "currentTime", input: "{}" } as const;
    const h = await chatHarness(scriptedModel(() => ({ parts: [call, finish("tool-calls")] })));
    const { slug, headers } = h.agent;
    const json = { enabled: ["currentTime"], needsApproval: ["currentTime"] };
    await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json });
    await readEvents(await h.native("What time is it?", { chat_id: "c" }));
    const path = `/api/conversations/${encodeURIComponent(`${slug}:web:api-c`)}`;
    const deleting = Promise.withResolvers<Response>();
    await whileLocked(
      h,
      async () => deleting.resolve(h.request(path, { method: "DELETE", headers })),
      async () => {
        const { db } = h.services.database;
        expect(await db.select().from(toolCalls).for("update", { skipLocked: true })).toHaveLength(1);
      },
    );
    expect((await deleting.promise).status).toBe(200);
  });

  test("nothing is held for a turn that is closed at that moment", async () => {
    const held = gate();
    const h = await chatHarness(
      scriptedModel(() => ({ parts: [held.promise, text("Yes."), finish()] })),
      budget,
    );
    const { db } = h.services.database;
    const reading = h.native("Hi", { chat_id: "c" }).then(readEvents);
    await eventually(async () => (await h.stored()).turns.length > 0);
    const [turn] = (await h.stored()).turns;
    const before = await db.select().from(budgetPeriods);
    let reserving: Promise<unknown> = Promise.resolve();
    await h.services.database.transaction(async (tx) => {
      await tx.update(turns).set({ status: "lost" });
      reserving = reserve(h.services, {
        agentId: turn?.agentId ?? "",
        turnId: turn?.id ?? "",
        month: turn?.budgetMonth ?? "",
        tokens: 500,
        cost: 0,
      }).catch((error: unknown) => error);
      await eventually(() => waits(h));
    });
    expect(await reserving).toMatchObject({ code: "rate-limited" });
    expect(await db.select().from(budgetPeriods)).toEqual(before);
    held.open();
    await reading;
  });
});
