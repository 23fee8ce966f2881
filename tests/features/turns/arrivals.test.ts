import { expect, test } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { Arrivals } from "../../../src/features/turns/place/arrivals.ts";
import { plainText } from "../../plain-text.ts";
import { finish, gate, reply, scriptedModel, text } from "../../scripted-model.ts";
import { chatHarness, eventually } from "../chat/chat.ts";

/** Waits until the calls have reached their conversation. */
const waited = () => new Promise((resolve) => setTimeout(resolve, 50));

/** A conversation with a running turn, in which the next call's statement takes long to reach the database. */
async function slowOpening() {
  const [held, slow] = [gate(), gate()];
  const model = scriptedModel((_call, index) =>
    index === 0 ? { parts: [held.promise, ...text("r0"), finish()] } : reply(`r${index}`),
  );
  const h = await chatHarness(model);
  const { database } = h.services;
  const { query } = database;
  const first = h.complete("q0", { chat_id: "c" });
  await model.called(1);
  let openings = 0;
  let failing = false;
  database.query = async (statement, parameters) => {
    if (plainText(statement).includes("insert into turns")) {
      openings += 1;
      if (openings === 1) {
        await slow.promise;
        if (failing) throw new EngineError("unavailable", "The database is unavailable");
      }
    }
    return (await query(statement, parameters)) as never;
  };
  const asked = async () => (await h.stored()).messages.filter(({ role }) => role === "user").map((m) => m.content);
  const begun = (n: number) => eventually(async () => openings >= n);
  /** Fails the slow statement, as an unavailable database does. */
  const fail = () => {
    failing = true;
  };
  return { h, held, slow, first, asked, fail, openings: () => openings, begun };
}

test("calls of a conversation that arrive at once are queued in the order of arrival, on every endpoint", async () => {
  const { h, held, slow, first, asked, begun } = await slowOpening();
  const late = [
    h.complete("q1", { chat_id: "c" }),
    h.native("q2", { chat_id: "c" }),
    h.complete("q3", { chat_id: "c", stream: true }),
    h.native("q4", { chat_id: "c" }),
  ];
  await begun(1);
  // Another conversation waits for none of them.
  const other = h.complete("other", { chat_id: "d" });
  expect((await other).status).toBe(200);
  slow.open();
  held.open();
  await first;
  for (const one of late) await (await one).text();
  expect((await asked()).filter((content) => content !== "other")).toEqual(["q0", "q1", "q2", "q3", "q4"]);
});

test("a call that leaves or is refused while it waits holds up no other", async () => {
  const { h, held, slow, first, asked, begun } = await slowOpening();
  const leaver = new AbortController();
  const one = h.complete("q1", { chat_id: "c" });
  await begun(1);
  const left = h.complete("left", { chat_id: "c" }, { signal: leaver.signal }).catch(() => null);
  const large = h.complete("refused", { chat_id: "c", context: { a: "x".repeat(70_000) } });
  const two = h.complete("q2", { chat_id: "c" });
  await waited();
  leaver.abort();
  // It has ended though the call before it is still opening.
  await left;
  slow.open();
  await begun(2);
  held.open();
  expect((await large).ok).toBe(false);
  for (const answer of await Promise.all([first, one, two])) expect(answer.status).toBe(200);
  expect(await asked()).toEqual(["q0", "q1", "q2"]);
});

test("no state is kept of a conversation whose calls are all queued", async () => {
  const { services } = await chatHarness(undefined);
  const arrivals = new Arrivals(services.admission);
  const share = ["acme", "agent-1", "192.0.2.1"] as const;
  const { signal } = new AbortController();
  const done: number[] = [];
  const works = [1, 2, 3].map((n) =>
    arrivals.arrive(signal).inOrder("c", share, async () => {
      done.push(n);
      if (n === 2) throw new Error("refused");
    }),
  );
  void arrivals.arrive(signal).inOrder("d", share, async () => {});
  expect(arrivals.size).toBe(2);
  expect((await Promise.allSettled(works)).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual([1, 2, 3]);
  expect(arrivals.size).toBe(0);
});

test("an outage fails the calls that wait behind it at once, and not each after a time-out of its own", async () => {
  const { h, held, slow, first, fail, openings, begun } = await slowOpening();
  fail();
  const one = h.complete("q1", { chat_id: "c" });
  await begun(1);
  const late = [h.complete("q2", { chat_id: "c" }), h.native("q3", { chat_id: "c" })];
  await waited();
  slow.open();
  for (const answer of await Promise.all([one, ...late])) {
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining("The database is unavailable")]);
  }
  expect(openings()).toBe(1);
  held.open();
  expect((await first).status).toBe(200);
  expect((await h.complete("q4", { chat_id: "c" })).status).toBe(200);
});

test("calls waiting to open are at most as many as may wait in the conversation; a further one is a 429", async () => {
  const { h, held, slow, first, begun } = await slowOpening();
  const one = h.complete("q", { chat_id: "c" });
  await begun(1);
  const line = Array.from({ length: 16 }, () => h.complete("q", { chat_id: "c" }));
  await waited();
  const refused = await h.complete("q", { chat_id: "c" });
  expect(await refused.json()).toMatchObject({ statusCode: 429, message: "Too many turns wait in this conversation" });
  slow.open();
  await begun(17);
  held.open();
  await Promise.all([first, one, ...line]);
});

test("a call whose agent changed meanwhile keeps its place before the later ones", async () => {
  const { h, held, slow, first, asked, begun } = await slowOpening();
  const one = h.complete("q1", { chat_id: "c" });
  await begun(1);
  const two = h.native("q2", { chat_id: "c" });
  await waited();
  const { headers, slug } = h.agent;
  const json = { name: "Another" };
  expect((await h.request(`/api/instances/${slug}`, { method: "PATCH", headers, json })).ok).toBe(true);
  slow.open();
  await begun(3);
  held.open();
  for (const answer of await Promise.all([first, one, two])) await answer.text();
  expect(await asked()).toEqual(["q0", "q1", "q2"]);
});
