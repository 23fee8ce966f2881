import { eq, isNull, sql } from "drizzle-orm";
import { describe, expect, onTestFinished, test } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { newId } from "../../../src/core/ids.ts";
import { conversations, jobs } from "../../../src/db/schema.ts";
import { extractionJobs } from "../../../src/features/memories/extraction/extract.ts";
import { dueFollowUps, type FollowUpKind } from "../../../src/features/turns/follow-up/due.ts";
import { dueStatements, firstPlace, pageSize } from "../../../src/features/turns/follow-up/due-statements.ts";
import { followUpJobs } from "../../../src/features/turns/follow-up/jobs.ts";
import type { Complete } from "../../../src/jobs/complete.ts";
import { enqueue } from "../../../src/jobs/enqueue.ts";
import { Heartbeat } from "../../../src/jobs/heartbeat.ts";
import { Postponed } from "../../../src/jobs/postponed.ts";
import { createSchedule } from "../../../src/jobs/schedule.ts";
import { createWorker } from "../../../src/jobs/worker.ts";
import { explaining, sum } from "../../plan.ts";
import { spyOnStatements } from "../../statements.ts";
import { converse, goOn, memoryHarness } from "../memories/memories.ts";

/** A worker whose fast model answers with `answer` of a prompt's text. */
async function following(answer: (prompt: string) => unknown) {
  const h = await memoryHarness({ fastModel: "openai:fast" });
  const asked: string[] = [];
  let [atOnce, most] = [0, 0];
  const complete: Complete = async (_agent, prompt) => {
    asked.push(prompt);
    atOnce += 1;
    most = Math.max(most, atOnce);
    try {
      return JSON.stringify(await answer(prompt));
    } finally {
      atOnce -= 1;
    }
  };
  const needs = { services: h.services, complete };
  const worker = createWorker(
    { ...h.services, heartbeat: new Heartbeat(h.services) },
    { ...followUpJobs(needs), ...extractionJobs(needs) },
  );
  onTestFinished(() => worker.stop(0));
  const { db } = h.database;
  const start = h.clock.now();
  /** A conversation of one exchange, with this work due since this many milliseconds. */
  const dueOf = async (
    columns: readonly ("titleDueAt" | "followUpDueAt")[],
    said: string,
    since = 1_000,
    agent = h.agent,
  ) => {
    const { conversationId } = await converse({ ...h, agent }, [[said, "Fine"]], { subject: `web:${said}` });
    const at = Object.fromEntries(columns.map((column) => [column, new Date(start - since)]));
    await db.update(conversations).set(at).where(eq(conversations.id, conversationId));
    return conversationId;
  };
  return {
    ...h,
    asked,
    most: () => most,
    worker,
    dueOf,
    due: (...about: [said: string, since?: number, agent?: typeof h.agent]) =>
      dueOf(["titleDueAt", "followUpDueAt"], ...about),
    /** A conversation that has rested, and has no title yet. */
    rested: (said: string) => dueOf(["followUpDueAt"], said),
    begin: (kind: FollowUpKind, { id, organizationId } = h.agent) =>
      enqueue(db, { kind, key: id, payload: { agentId: id }, runAt: new Date(0) }, { organizationId }),
    async row(id: string) {
      const [row] = await db.select().from(conversations).where(eq(conversations.id, id));
      if (!row) throw new Error("The conversation is gone");
      return row;
    },
    waiting: async () =>
      (await db.select().from(jobs)).map(({ kind, key, runAt, attempts }) => {
        return { kind, key, after: runAt.getTime() - start, attempts };
      }),
    schedule: () => createSchedule({ ...h, sources: [dueFollowUps], wake: () => {} }).tick(),
  };
}

/** Answers with a title from the user's text, and with that text as a memory. */
const wellRead = (prompt: string) => {
  const [, said = "?"] = /"text":"(said [^"]*)"/.exec(prompt) ?? [];
  return { title: `On ${said}`, facts: [{ content: `User ${said}` }] };
};

const titles = "titleConversations";
const followUps = "followUpConversations";

describe("one job of an agent", () => {
  test("handles all its due conversations, page by page, each once, and many at a time", async () => {
    const h = await following(wellRead);
    const ids: string[] = [];
    for (let n = 0; n < 150; n += 1) ids.push(await h.due(`said ${n}`, 1_000 * (n % 3)));
    const spied = spyOnStatements(h.database);
    await h.begin(titles);
    await h.worker.work();
    const rows = await Promise.all(ids.map(h.row));
    expect(rows.map(({ title, titleDueAt }) => [title, titleDueAt])).toEqual(ids.map((_, n) => [`On said ${n}`, null]));
    expect((await h.rows()).map(({ content }) => content).sort()).toEqual(ids.map((_, n) => `User said ${n}`).sort());
    await h.begin(followUps);
    await h.worker.work();
    // One call gave the title and the memories of each.
    expect([h.asked.length, await h.waiting()]).toEqual([150, []]);
    expect(h.most()).toBeGreaterThan(16);
    expect((await Promise.all(ids.map(h.row))).filter(({ followUpDueAt }) => followUpDueAt)).toEqual([]);
    // The results are stored by the statement that ends the due work: a row is written once for each kind.
    const written = spied.texts().filter((text) => text.startsWith("update conversations "));
    expect(new Set(written.map((text) => /\b(\w+_due_at) = nullif/.exec(text)?.[1]))).toEqual(
      new Set(["title_due_at", "follow_up_due_at"]),
    );
  });

  test("leaves those of other agents, and is due again for those that are due later", async () => {
    const h = await following(wellRead);
    const other = await h.createAgent({ fastModel: "openai:fast" });
    const [now, later, foreign] = [
      await h.due("said now"),
      await h.due("said later", -20_000),
      await h.due("said there", 1_000, other),
    ];
    await h.begin(titles);
    await h.worker.work();
    const named = await Promise.all([now, later, foreign].map(async (id) => (await h.row(id)).title));
    expect(named).toEqual(["On said now", null, null]);
    expect(await h.waiting()).toEqual([{ kind: titles, key: h.agent.id, after: 20_000, attempts: 0 }]);
  });

  test("is due again no sooner than in a second, so that conversations are gathered", async () => {
    const h = await following(wellRead);
    await h.due("said soon", -10);
    await h.begin(titles);
    await h.worker.work();
    expect(await h.waiting()).toMatchObject([{ kind: titles, after: 1_000 }]);
  });

  test("gives way to others after a while, and leaves the rest to the next one, at once", async () => {
    let stopped = Promise.resolve();
    const h = await following(async (prompt) => {
      if (h.asked.length === 1) {
        await h.clock.jump(6_000);
        // Otherwise this process would begin the next one.
        stopped = h.worker.stop(60_000);
      }
      return wellRead(prompt);
    });
    for (let n = 0; n < 200; n += 1) await h.due(`said ${n}`);
    await h.begin(titles);
    await h.worker.work();
    await stopped;
    expect(h.asked.length).toBeLessThan(200);
    expect(await h.waiting()).toEqual([{ kind: titles, key: h.agent.id, after: 6_000, attempts: 0 }]);
    const unnamed = await h.database.db.select().from(conversations).where(isNull(conversations.title));
    expect(unnamed.map(({ titleDueAt }) => titleDueAt !== null)).toEqual(Array(200 - h.asked.length).fill(true));
  });

  test("of a deleted agent ends quietly", async () => {
    const h = await following(wellRead);
    await h.begin(titles, { ...h.agent, id: newId() });
    await h.worker.work();
    expect([await h.waiting(), h.asked]).toEqual([[], []]);
  });
});

describe("a conversation", () => {
  test("that continues meanwhile is followed up again when it has rested", async () => {
    const anew = new Date("2100-01-01");
    const h = await following(async (prompt) => {
      await goOn(h, id, [["said more", "Fine"]], { subject: "web:said once" });
      await h.database.db.update(conversations).set({ title: "Known", followUpDueAt: anew });
      return wellRead(prompt);
    });
    const id = await h.rested("said once");
    await h.database.db.update(conversations).set({ title: "Known" });
    await h.begin(followUps);
    await h.worker.work();
    const { followUpDueAt, metadata } = await h.row(id);
    expect([followUpDueAt, metadata.extractedSeq]).toEqual([anew, 2]);
    expect(await h.waiting()).toMatchObject([{ kind: followUps, after: anew.getTime() - h.clock.now() }]);
  });

  test("whose model fails is retried by itself, and holds up no other", async () => {
    let away = true;
    const h = await following((prompt) => {
      if (away && prompt.includes("said bad")) throw new Error("Model provider error");
      return wellRead(prompt);
    });
    const [bad, good] = [await h.rested("said bad"), await h.rested("said good")];
    await h.begin(followUps);
    await h.worker.work();
    expect([(await h.row(good)).title, (await h.rows()).map(({ content }) => content)]).toEqual([
      "On said good",
      ["User said good"],
    ]);
    // Each part has its own job, as if only that part had failed.
    const left = (await h.waiting()).toSorted((a, b) => a.kind.localeCompare(b.kind));
    expect(left).toMatchObject([
      { kind: "describeConversation", key: bad, attempts: 0 },
      { kind: "extractMemories", key: bad, attempts: 0 },
    ]);
    for (const { after } of left) expect([after >= 2_500, after <= 5_000]).toEqual([true, true]);
    expect((await h.row(bad)).followUpDueAt).toBeNull();
    const said = h.logs.filter((line) => line.includes("will be tried again"));
    expect([said.length, said[0]?.includes(bad), said[0]?.includes("said bad")]).toEqual([2, true, false]);
    away = false;
  });

  test("whose agent may not call a model now waits for its next turn", async () => {
    const h = await following(() => {
      throw new EngineError("rate-limited", "The agent's budget is spent");
    });
    const id = await h.rested("said in vain");
    await h.begin(followUps);
    await h.worker.work();
    const { title, followUpDueAt, metadata } = await h.row(id);
    expect([title, followUpDueAt, metadata.extractedSeq]).toEqual(["said in vain", null, undefined]);
    expect(await h.waiting()).toEqual([]);
  });

  test("stays due while its model asks for a pause, for a minute at most", async () => {
    let until = 0;
    const h = await following((prompt) => {
      if (h.clock.now() < until) throw new Postponed("Model provider is rate limited", until);
      return wellRead(prompt);
    });
    until = h.clock.now() + 50_000;
    const id = await h.due("said patiently");
    await h.begin(titles);
    await h.worker.work();
    expect([(await h.row(id)).title, await h.waiting()]).toEqual([
      null,
      [{ kind: titles, key: h.agent.id, after: 50_000, attempts: 0 }],
    ]);
    until = h.clock.now() + 3_600_000;
    await h.clock.jump(50_000);
    await h.worker.work();
    // The agent may have another model by then.
    expect(await h.waiting()).toMatchObject([{ after: 110_000, attempts: 0 }]);
    until = 0;
    await h.clock.jump(60_000);
    await h.worker.work();
    expect([(await h.row(id)).title, await h.waiting()]).toEqual(["On said patiently", []]);
  });

  test("that goes on while its title is late is followed up after it, and asked about once for each part", async () => {
    const late = Promise.withResolvers<void>();
    const parts = ["title", "summary", "facts"];
    const partsOf = (prompt: string) => parts.filter((part) => prompt.includes(`"${part}":`));
    const h = await following(async () => {
      await late.promise;
      return { title: "Slow talk", summary: "They talk slowly.", facts: [{ content: "Talks slowly" }] };
    });
    const id = await h.due("said slowly");
    const more = ["said more", "said yet more"].map((said): [string, string] => [said, "Fine"]);
    await goOn(h, id, more, { subject: "web:said slowly" });
    await h.begin(titles);
    await h.begin(followUps);
    const worked = h.worker.work();
    await expect.poll(() => h.asked.length).toBe(1);
    await h.schedule();
    late.resolve();
    await worked;
    const found = { title: "Slow talk", summary: "They talk slowly.", titleDueAt: null, metadata: { extractedSeq: 6 } };
    expect(await h.row(id)).toMatchObject({ ...found, followUpDueAt: expect.any(Date) });
    await h.clock.jump(30_000);
    await h.schedule();
    await h.worker.work();
    expect(await h.row(id)).toMatchObject({ ...found, followUpDueAt: null });
    expect(h.asked.map(partsOf)).toEqual([["facts"], ["title", "summary"]]);
    expect((await h.rows()).map(({ content }) => content)).toEqual(["Talks slowly"]);
  });

  test("whose model gives no title with the facts gets a call for the title alone", async () => {
    const h = await following((prompt) =>
      prompt.includes("long-term memory") ? { facts: [{ content: "Sings" }] } : { title: "On songs" },
    );
    const id = await h.due("said in song");
    await h.begin(titles);
    await h.worker.work();
    expect(await h.row(id)).toMatchObject({ title: "On songs", metadata: { extractedSeq: 2 } });
    expect([h.asked.length, (await h.rows()).map(({ content }) => content)]).toEqual([2, ["Sings"]]);
  });

  test("whose model gives a title and no facts keeps the title, and gets no second call", async () => {
    const h = await following(() => ({ title: "On nothing" }));
    const id = await h.due("said nothing");
    await h.begin(titles);
    await h.worker.work();
    expect(await h.row(id)).toMatchObject({ title: "On nothing", metadata: { extractedSeq: 2 } });
    expect([h.asked.length, await h.rows()]).toEqual([2, []]);
    expect(h.asked.every((prompt) => prompt.includes("long-term memory"))).toBe(true);
  });

  test("with two people gets a title about both, and each one's memories", async () => {
    const h = await following(wellRead);
    const id = await h.due("said first");
    await goOn(h, id, [["said second", "Fine"]], { subject: "web:bob" });
    await h.begin(titles);
    await h.worker.work();
    expect(h.asked.map((prompt) => [prompt.includes("said first"), prompt.includes("said second")])).toEqual([
      [true, false],
      [false, true],
      [true, true],
    ]);
    expect(h.asked.map((prompt) => prompt.includes('"title"'))).toEqual([false, false, true]);
    expect((await h.rows()).map(({ subject }) => subject).sort()).toEqual(["web:bob", "web:said first"]);
  });

  test("that is long is learned from in parts, each once, also while its summary is written", async () => {
    const h = await following(async (prompt) => {
      if (prompt.includes("long-term memory")) return { facts: [] };
      await h.worker.tick();
      await expect.poll(() => h.asked.length).toBe(3);
      return { title: "Long", summary: "Very." };
    });
    const id = await h.rested("said 0");
    const more = Array.from({ length: 24 }, (_, n): [string, string] => [`said ${n + 1}`, "Fine"]);
    await goOn(h, id, more, { subject: "web:said 0" });
    await h.begin(followUps);
    await h.worker.work();
    const learning = h.asked.filter((prompt) => prompt.includes("long-term memory"));
    expect(learning.map((prompt) => /"user","text":"(said \d+)"/.exec(prompt)?.[1])).toEqual(["said 0", "said 20"]);
    expect(await h.row(id)).toMatchObject({ title: "Long", metadata: { extractedSeq: 50, summarizedMessages: 50 } });
  });

  test("whose title a person gave meanwhile keeps that", async () => {
    const h = await following(async (prompt) => {
      await h.database.db.update(conversations).set({ title: "Mine" });
      return wellRead(prompt);
    });
    const id = await h.due("said once");
    await h.begin(titles);
    await h.worker.work();
    expect([(await h.row(id)).title, h.asked.length]).toEqual(["Mine", 1]);
  });

  test("whose model has no time to read it gets its title with its memories all the same", async () => {
    let away = true;
    const h = await following((prompt) => {
      if (away && prompt.includes("long-term memory"))
        throw new Postponed("The model had no time for this call yet", h.clock.now() + 50_000);
      return wellRead(prompt);
    });
    const id = await h.due("said twice");
    await h.begin(titles);
    await h.worker.work();
    expect([await h.row(id), h.asked.length]).toMatchObject([{ title: null, titleDueAt: expect.any(Date) }, 1]);
    away = false;
    await h.clock.jump(60_000);
    await h.worker.work();
    const found = { title: "On said twice", titleDueAt: null, metadata: { extractedSeq: 2 } };
    expect([await h.row(id), h.asked.length]).toMatchObject([found, 2]);
  });

  test("is read for memories once, where its summary has to wait", async () => {
    let away = true;
    const h = await following((prompt) => {
      if (!prompt.includes("long-term memory") && away)
        throw new Postponed("Model provider is rate limited", h.clock.now() + 50_000);
      return { title: "On songs", summary: "They sing.", facts: [{ content: "Sings" }] };
    });
    const id = await h.rested("said in song");
    const more = ["said more", "said yet more"].map((said): [string, string] => [said, "Fine"]);
    await goOn(h, id, more, { subject: "web:said in song" });
    await h.begin(followUps);
    await h.worker.work();
    const read = { summary: null, followUpDueAt: expect.any(Date), metadata: { extractedSeq: 6 } };
    expect([await h.row(id), h.asked.length]).toMatchObject([read, 2]);
    away = false;
    await h.clock.jump(50_000);
    await h.worker.work();
    const found = { title: "On songs", summary: "They sing.", followUpDueAt: null };
    expect([await h.row(id), h.asked.length]).toMatchObject([found, 3]);
  });
});

describe("the tick", () => {
  test("finds what is due until the next one, agent by agent, each with its earliest conversation", async () => {
    const h = await following(wellRead);
    const others = [await h.createAgent(), await h.createAgent()];
    for (const columns of [["titleDueAt"], ["followUpDueAt"]] as const) {
      await h.dueOf(columns, "one", 5_000);
      await h.dueOf(columns, "two", 9_000);
      await h.dueOf(columns, "three", -20_000, others[0]);
      await h.dueOf(columns, "four", -60_000, others[1]);
    }
    await h.schedule();
    const found = (await h.waiting()).map(({ kind, key, after }) => [kind, key, after]).sort();
    expect(found).toEqual(
      [titles, followUps]
        .flatMap((kind) => [
          [kind, h.agent.id, -9_000],
          [kind, others[0]?.id, 20_000],
        ])
        .sort(),
    );
    // Waiting and running jobs are not enqueued again.
    await h.schedule();
    expect(await h.waiting()).toHaveLength(4);
    await h.database.db.update(jobs).set({ lockedBy: newId(), lockedUntil: sql`now() + interval '1 day'` });
    await h.schedule();
    expect(await h.waiting()).toHaveLength(4);
  });
});

/** An agent with 8,000 conversations with this work due. */
async function crowded(columns: readonly string[]) {
  const h = await memoryHarness({ fastModel: "openai:fast" });
  const { conversationId } = await converse(h, [["I live in Bern", "Nice!"]]);
  await h.database.query(
    `insert into conversations (id, ref, agent_id, organization_id, channel, channel_id, subject, ${columns})
     select gen_random_uuid(), ref || n, agent_id, organization_id, channel, channel_id, subject, ${columns.map(() => "timestamptz '2020-01-01' - n * interval '1 ms'")}
     from conversations, generate_series(1, 8000) n where id = $1`,
    [conversationId],
  );
  return h;
}

test("a page of an agent's due conversations is read in their order from the index, however many are due", async () => {
  const h = await crowded(["follow_up_due_at"]);
  const explained = explaining(h.database);
  await dueStatements({ ...h, database: explained.database }, "followUpConversations").next(
    h.agent.id,
    Date.now(),
    firstPlace,
  );
  expect(sum(explained.reads("conversations").map(({ read }) => read))).toBe(pageSize);
  const next = dueStatements(h, "followUpConversations").next;
  const page = await next(h.agent.id, Date.now(), firstPlace);
  const rest = await next(h.agent.id, Date.now(), page.at(-1) ?? firstPlace);
  const inOrder = await h.database.query<{ id: string }>(
    "select id from conversations where follow_up_due_at is not null order by follow_up_due_at limit $1",
    [2 * pageSize],
  );
  expect([...page, ...rest].map(({ id }) => id)).toEqual(inOrder.map(({ id }) => id));
});

test("what is due next is found in the order of the indexes, also where many are due for both", async () => {
  const h = await crowded(["title_due_at", "follow_up_due_at"]);
  const explained = explaining(h.database);
  for (const kind of [titles, followUps] as const)
    await dueStatements({ ...h, database: explained.database }, kind).first(h.agent.id);
  await createSchedule({ ...h, database: explained.database, sources: [dueFollowUps], wake: () => {} }).tick();
  const read = explained.reads("conversations");
  const [title, followUp] = [["conversations_title_due"], ["conversations_follow_up_due"]];
  expect(read.map(({ indexes }) => indexes)).toEqual([title, followUp, title, title, followUp, followUp]);
  for (const one of read) expect(one.read - one.inVain).toBeLessThanOrEqual(1);
  expect((await h.database.db.select().from(jobs)).map(({ kind }) => kind)).toEqual([titles]);
});
