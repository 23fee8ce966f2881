import { afterAll, describe, expect, test } from "vitest";
import { eventually } from "../features/chat/chat.ts";
import { startPostgres } from "../real-postgres.ts";
import { bundled } from "./kill.ts";
import { senders } from "./senders.ts";

const server = await startPostgres();
afterAll(() => server?.stop());

const bundle = bundled("sender");

describe.skipIf(!server)("a process that is killed while it sends", () => {
  test("between the call and the answer: the part is sent once more, marked, and then no more", async () => {
    const h = await senders(server, bundle);
    h.telegram.fail("sendMessage", "hang", "hang");
    await h.say("one");
    for (const calls of [1, 2]) {
      const { child, killed, output } = h.begin("never");
      await eventually(async () => h.calls() === calls);
      child.kill("SIGKILL");
      expect([await killed, output.stderr]).toEqual(["SIGKILL", ""]);
      const [row] = await h.rows();
      expect(row).toMatchObject({ status: "sending", attempts: calls, mayBeRepeated: calls === 2 });
      await h.expire();
    }
    await h.say("two");
    const rows = await h.settled((all) => all.at(-1)?.status === "sent");
    expect(rows.map(({ status, error }) => [status, error])).toEqual([
      ["failed", "It may have been delivered: the server ended twice while it was sent"],
      ["sent", null],
    ]);
    expect([h.calls(), h.texts()]).toEqual([3, ["two"]]);
  });

  test("between the answer and the note: the part is sent once more and marked, and what follows once", async () => {
    const h = await senders(server, bundle);
    await h.say("one");
    await h.say("two");
    const { killed, output } = h.begin("noting");
    expect([await killed, output.stderr]).toEqual(["SIGKILL", ""]);
    expect(h.texts()).toEqual(["one"]);
    await h.expire();
    const rows = await h.allSent();
    expect(h.texts()).toEqual(["one", "one", "two"]);
    expect(rows.map(({ mayBeRepeated, attempts }) => [mayBeRepeated, attempts])).toEqual([
      [true, 2],
      [false, 1],
    ]);
  });

  test("leaves what another process sends alone: two of them send each part once", async () => {
    const h = await senders(server, bundle);
    for (let n = 0; n < 60; n += 1) await h.say(`to ${n % 20}, ${n}`, { target: String(100 + (n % 20)) });
    const processes = [h.begin("never"), h.begin("never")];
    await eventually(async () => (await h.rows()).every(({ status }) => status === "sent"));
    expect(h.texts()).toHaveLength(60);
    const byPlace = Map.groupBy(h.telegram.sent, ({ chatId }) => chatId);
    for (const sent of byPlace.values()) {
      const order = sent.map(({ text }) => Number(text.split(", ")[1]));
      expect(order).toEqual(order.toSorted((a, b) => a - b));
    }
    for (const { child, killed } of processes) {
      child.kill("SIGKILL");
      await killed;
    }
  });
});
