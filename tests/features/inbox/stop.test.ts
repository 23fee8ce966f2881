import { expect, onTestFinished, test } from "vitest";
import { createEngine } from "../../../src/engine.ts";
import { finish, gate, reply, text } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { answering, doing } from "./answering.ts";

async function held() {
  const end = gate();
  const h = await answering(
    doing({ parts: [...text("Half"), end.promise, ...text(" an answer."), finish()] }, reply("All of it.")),
  );
  await h.say("Hello");
  await h.settle();
  await h.model.called(1);
  /** The next process on the database. */
  const next = () => {
    const engine = createEngine(h.services);
    onTestFinished(() => engine.stop(0));
    return engine;
  };
  return { ...h, end, next };
}

test("a turn that a stop interrupts leaves nothing, and the next process answers its message", async () => {
  const h = await held();
  await h.engine.stop(0);
  expect(await h.turns()).toEqual([["aborted", "shutdown"]]);
  expect(await h.transcript()).toEqual([]);
  expect(await h.statuses()).toEqual(["pending"]);
  expect((await h.rows()).jobs).toMatchObject([{ kind: "inbox.answer", attempts: 0, lockedUntil: null }]);
  await h.next().tick();
  await h.done(1);
  expect(await h.transcript()).toEqual(["user: Hello", "assistant: All of it."]);
  expect(await h.sent()).toEqual(["All of it."]);
  expect((await h.rows()).inbox).toMatchObject([{ restarts: 0, attempts: 1 }]);
});

test("a turn that ends within the grace of a stop is answered once", async () => {
  const h = await held();
  const stopped = h.engine.stop(10_000);
  h.end.open();
  await h.done(1);
  await stopped;
  await h.next().tick();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await h.sent()).toEqual(["Half an answer."]);
  expect(h.model.calls).toHaveLength(1);
});

test("a job that another process claimed answers only once, whichever is first", async () => {
  const h = await held();
  const { database } = h.services;
  // This process lost touch: its job's lease ended, and its turn continues.
  await database.query("update jobs set locked_by = gen_random_uuid(), locked_until = 'epoch'", []);
  const other = h.next();
  await other.tick();
  await eventually(async () => (await h.turns()).length === 2);
  h.end.open();
  await h.done(1);
  await h.clock.advance(1_000);
  await h.clock.advance(1_000);
  await eventually(async () => (await h.turns()).every(([status]) => status === "done" || status === "aborted"));
  expect(await h.sent()).toEqual(["Half an answer."]);
  expect(await h.transcript()).toEqual(["user: Hello", "assistant: Half an answer."]);
});
