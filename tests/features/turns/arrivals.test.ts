import { expect, test } from "vitest";
import { Arrivals } from "../../../src/features/turns/place/arrivals.ts";
import { plainText } from "../../plain-text.ts";
import { finish, gate, reply, scriptedModel, text } from "../../scripted-model.ts";
import { chatHarness, eventually } from "../chat/chat.ts";

/** A conversation with a running turn, in which the next call's statement takes long on its way to the database. */
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
  database.query = async (statement, parameters) => {
    if (plainText(statement).includes("insert into turns")) {
      openings += 1;
      if (openings === 1) await slow.promise;
    }
    return (await query(statement, parameters)) as never;
  };
  const asked = async () => (await h.stored()).messages.filter(({ role }) => role === "user").map((m) => m.content);
  return { h, held, slow, first, asked, begun: (n: number) => eventually(async () => openings >= n) };
}

test("calls of a conversation that arrive at once take their places in the order of arrival, on every door", async () => {
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

test("one that leaves or is refused while it waits holds nobody up", async () => {
  const { h, held, slow, first, asked, begun } = await slowOpening();
  const leaver = new AbortController();
  const one = h.complete("q1", { chat_id: "c" });
  await begun(1);
  const left = h.complete("left", { chat_id: "c" }, { signal: leaver.signal }).catch(() => null);
  const large = h.complete("refused", { chat_id: "c", context: { a: "x".repeat(70_000) } });
  const two = h.complete("q2", { chat_id: "c" });
  leaver.abort();
  slow.open();
  await begun(3);
  held.open();
  await left;
  expect((await large).ok).toBe(false);
  for (const answer of await Promise.all([first, one, two])) expect(answer.status).toBe(200);
  expect(await asked()).toEqual(["q0", "q1", "q2"]);
});

test("nothing is kept of a conversation whose calls have their places", async () => {
  const arrivals = new Arrivals();
  const done: number[] = [];
  const works = [1, 2, 3].map((n) =>
    arrivals.inOrder("c", async () => {
      done.push(n);
      if (n === 2) throw new Error("refused");
    }),
  );
  void arrivals.inOrder("d", async () => {});
  expect(arrivals.size).toBe(2);
  expect((await Promise.allSettled(works)).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual([1, 2, 3]);
  expect(arrivals.size).toBe(0);
});
