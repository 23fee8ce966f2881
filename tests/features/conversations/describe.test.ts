import { eq, sql } from "drizzle-orm";
import { describe, expect, onTestFinished, test } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { newId } from "../../../src/core/ids.ts";
import { agents, conversations, jobs } from "../../../src/db/schema.ts";
import { conversationJobs, descriptionJob } from "../../../src/features/conversations/describe.ts";
import type { Complete } from "../../../src/jobs/complete.ts";
import { enqueue } from "../../../src/jobs/enqueue.ts";
import { Heartbeat } from "../../../src/jobs/heartbeat.ts";
import { createWorker } from "../../../src/jobs/worker.ts";
import { converse, type Exchange, goOn, memoryHarness } from "../memories/memories.ts";

type Answer = string | Error | (() => string | Promise<string>);

/** A fast model that gives these answers one after the other, and a worker that calls it. */
async function withModel(answers: Answer[]) {
  const h = await memoryHarness({ fastModel: "openai:fast" });
  const asked: string[] = [];
  const complete: Complete = async ({ slug }, prompt) => {
    expect(slug).toBe(h.slug);
    const answer = answers[asked.length];
    asked.push(prompt);
    if (answer instanceof Error) throw answer;
    if (answer === undefined) throw new Error("The fast model was asked too often");
    return typeof answer === "string" ? answer : answer();
  };
  const worker = createWorker(
    { ...h.services, heartbeat: new Heartbeat(h.services) },
    conversationJobs({ services: h.services, complete }),
  );
  onTestFinished(() => worker.stop(0));
  const describeIt = async (conversationId: string) => {
    await enqueue(h.database.db, descriptionJob.of({ conversationId }));
    await worker.work();
  };
  const found = async (conversationId: string) => {
    const [row] = await h.database.db.select().from(conversations).where(eq(conversations.id, conversationId));
    return [row?.title, row?.summary];
  };
  return { ...h, asked, worker, describeIt, found, waiting: () => h.database.db.select().from(jobs) };
}

const title = (text: string) => JSON.stringify({ title: text });
const summary = (text: string) => JSON.stringify({ summary: text });
const exchanges = (count: number): Exchange[] =>
  Array.from({ length: count }, (_, n) => [`question ${n}`, `answer ${n}`]);

describe("the fast model", () => {
  test("gives a title after the first turn, a summary after 6 messages, and a new one after 10 more", async () => {
    const h = await withModel([title("Questions"), summary("First."), summary("Second.")]);
    const { conversationId: id } = await converse(h, exchanges(1));
    await h.describeIt(id);
    expect(await h.found(id)).toEqual(["Questions", null]);
    await goOn(h, id, exchanges(1));
    await h.describeIt(id);
    expect(h.asked).toHaveLength(1);
    await goOn(h, id, exchanges(1));
    await h.describeIt(id);
    expect(await h.found(id)).toEqual(["Questions", "First."]);
    await goOn(h, id, exchanges(4));
    await h.describeIt(id);
    expect(h.asked).toHaveLength(2);
    await goOn(h, id, exchanges(1));
    await h.describeIt(id);
    expect([await h.found(id), await h.waiting()]).toEqual([["Questions", "Second."], []]);
    expect(h.asked.map((prompt) => prompt.includes('{"summary":"First."}'))).toEqual([false, false, true]);
  });

  test("is asked for both at once where both are due, and sees few messages of a long conversation, cut", async () => {
    const h = await withModel([JSON.stringify({ title: "Long", summary: "Very." })]);
    const { conversationId: id } = await converse(h, [...exchanges(100), ["x".repeat(500_000), "last"]]);
    await h.describeIt(id);
    expect([await h.found(id), h.asked.length]).toEqual([["Long", "Very."], 1]);
    expect(h.asked[0]?.split("\n").filter((line) => line.startsWith('{"role"'))).toHaveLength(30);
    expect(h.asked[0]?.length).toBeLessThan(8_000);
    expect(h.asked[0]).toContain('"last"');
  });

  test("never replaces a title that a person gave, not even meanwhile", async () => {
    const h = await withModel([
      async () => {
        await h.database.db.update(conversations).set({ title: "A person's", metadata: { extractedSeq: 4 } });
        return JSON.stringify({ title: "A model's", summary: "Said." });
      },
    ]);
    const { conversationId: id } = await converse(h, exchanges(3));
    await h.describeIt(id);
    expect(await h.found(id)).toEqual(["A person's", "Said."]);
    const [row] = await h.database.db.select().from(conversations);
    expect(row?.metadata).toEqual({ extractedSeq: 4, summarizedMessages: 6 });
    await h.describeIt(id);
    expect(h.asked).toHaveLength(1);
  });

  test("leaves its position in the list as it is", async () => {
    const h = await withModel([title("Questions")]);
    const { conversationId: id } = await converse(h, exchanges(1));
    await h.database.db.update(conversations).set({ updatedAt: new Date(0) });
    await h.describeIt(id);
    const [row] = await h.database.db.select().from(conversations);
    expect([row?.title, row?.updatedAt]).toEqual(["Questions", new Date(0)]);
  });

  test("that answers something else twice is left alone: the first words are the title", async () => {
    const h = await withModel(["canary one", "canary two"]);
    const { conversationId: id } = await converse(h, [["What about the canary?", "Fine"], ...exchanges(3)]);
    await h.describeIt(id);
    expect(await h.found(id)).toEqual(["What about the canary?", null]);
    await h.describeIt(id);
    expect([h.asked.length, await h.waiting()]).toEqual([2, []]);
    const said = h.logs.filter((line) => line.includes("gave no title or summary"));
    expect([said.length, said[0]?.includes(id), said[0]?.includes("canary")]).toEqual([1, true, false]);
  });

  test("that is away is asked again later", async () => {
    const h = await withModel([new Error("Model provider error"), title("Late")]);
    const { conversationId: id } = await converse(h, exchanges(1));
    await h.describeIt(id);
    expect(await h.waiting()).toMatchObject([{ attempts: 1, lastError: "Model provider error" }]);
    await h.clock.advance(5_000);
    await h.worker.work();
    expect([await h.waiting(), await h.found(id)]).toEqual([[], ["Late", null]]);
  });

  test.each([
    ["the agent is off", new EngineError("not-found", "Unknown model")],
    ["its budget is spent", new EngineError("rate-limited", "Spent")],
  ])("that may not be asked since %s leaves the first words, and sums up with the next turn", async (_label, refusal) => {
    const h = await withModel([refusal, summary("Late.")]);
    const { conversationId: id } = await converse(h, exchanges(3));
    await h.describeIt(id);
    expect([await h.waiting(), await h.found(id)]).toEqual([[], ["question 0", null]]);
    await h.describeIt(id);
    expect(await h.found(id)).toEqual(["question 0", "Late."]);
  });
});

describe("without a model", () => {
  test.each<[string, Parameters<typeof converse>[2]]>([
    ["the model that repeats", { provider: "demo" }],
    ["a talk between agents", { channel: "agent" }],
  ])("%s: the first words are the title, and nothing is summed up", async (_label, circumstances) => {
    const h = await withModel([]);
    const { conversationId: id } = await converse(
      h,
      [["Where is  my\norder?", "Here"], ...exchanges(10)],
      circumstances,
    );
    await h.describeIt(id);
    expect([await h.found(id), await h.waiting()]).toEqual([["Where is my order?", null], []]);
  });

  test("that the agent has as its fast model when the work begins, nobody is asked", async () => {
    const h = await withModel([]);
    const { conversationId: id } = await converse(h, [["Where is my order?", "Here"], ...exchanges(10)]);
    await h.database.db.update(agents).set({ fastModel: null });
    await h.describeIt(id);
    expect([await h.found(id), await h.waiting()]).toEqual([["Where is my order?", null], []]);
  });

  test("what a schedule or an event began is not shown to it either", async () => {
    const h = await withModel([]);
    const { conversationId: id } = await converse(h, [["Make the report", "Made"]]);
    await h.database.db.update(conversations).set({ source: "scheduled" });
    await h.describeIt(id);
    expect(await h.found(id)).toEqual(["Make the report", null]);
  });

  test("a deleted or empty conversation is left alone", async () => {
    const h = await withModel([]);
    await h.describeIt(newId());
    const { conversationId: id } = await converse(h, []);
    await h.describeIt(id);
    await goOn(h, id, [[null, "Welcome"]], { provider: "demo" });
    await h.describeIt(id);
    expect([await h.found(id), await h.waiting()]).toEqual([[null, null], []]);
  });
});

test("a conversation that is deleted meanwhile ends it quietly", async () => {
  const h = await withModel([
    async () => {
      await h.database.db.delete(agents).where(eq(agents.slug, h.slug));
      return title("Gone");
    },
  ]);
  const { conversationId: id } = await converse(h, exchanges(1));
  await h.describeIt(id);
  const [{ count } = { count: -1 }] = await h.database.db
    .select({ count: sql<number>`count(*)::int` })
    .from(conversations);
  expect([count, await h.waiting()]).toEqual([0, []]);
});
