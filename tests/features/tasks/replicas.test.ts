import { expect, test } from "vitest";
import { localNotify } from "../../../src/core/notify.ts";
import { conversations, turns } from "../../../src/db/schema.ts";
import { silent } from "../../embedded.ts";
import { reply } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { hour, withTasks } from "./tasks.ts";

test("however many replicas look, each time of each task is one run and one turn", async () => {
  const h = await withTasks(() => reply("Done."), { notify: localNotify(silent) });
  const replicas = [h.engine, h.replica(), h.replica()];
  const made = await Promise.all(Array.from({ length: 10 }, () => h.create()));
  for (let n = 1; n <= 3; n += 1) {
    await h.clock.jump(hour);
    await Promise.all(replicas.map((engine) => engine.tick()));
    await eventually(async () => {
      await Promise.all(replicas.map((engine) => engine.tick()));
      const rows = await h.rows();
      return rows.length === 10 * n && rows.every(({ status }) => status === "completed");
    });
    await h.rested();
  }
  for (const { id } of made) {
    expect((await h.runs(id)).map(({ dueAt }) => dueAt.slice(11, 16))).toEqual(["03:00", "02:00", "01:00"]);
  }
  expect(await h.db.select().from(turns)).toHaveLength(30);
  for (const replica of replicas.slice(1)) await replica.stop(0);
});

test("a run whose server stops is run by the next one, as if nothing had happened", async () => {
  const h = await withTasks((_call, index) => (index === 0 ? { opens: new Promise(() => {}) } : reply("Done.")));
  const { id } = await h.create({ maxRetries: 0 });
  await h.runNow(id);
  await h.model.called(1);
  await h.engine.stop(0);
  const next = h.replica();
  await eventually(async () => {
    await h.clock.jump(5_000);
    await next.tick();
    return (await h.runs(id))[0]?.status === "completed";
  });
  expect(await h.runs(id)).toMatchObject([{ attempts: 1, output: "Done.", error: null }]);
  const [conversation] = await h.db.select().from(conversations);
  expect(conversation?.messageCount).toBe(2);
  await next.stop(0);
});
