import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { type SubjectKey, subjectChannels, subjectKey } from "../../../src/core/channels/subjects.ts";
import { recall, searchMemories } from "../../../src/features/memories/recall.ts";
import { saveMemories } from "../../../src/features/memories/store.ts";
import { converse, memoryHarness } from "./memories.ts";

const ids = ["5", "web:5", "telegram:5", "conversation:5", ":5", "5 ", "%", "_", "''", "x".repeat(600)];

describe("an end user of one channel", () => {
  test("never sees memories of another one, whatever the ids look like", async () => {
    const h = await memoryHarness();
    const people = subjectChannels.flatMap((channel) => ids.map((id) => subjectKey(channel, id)));
    const said = people.map((subject, nth) => ({ agent: h.agent, subject, content: `secret ${nth} about tea` }));
    for (let from = 0; from < said.length; from += 10) await saveMemories(h.database, said.slice(from, from + 10));
    const known = async (subject: SubjectKey) => {
      const of = { agentId: h.agent.id, subject, limit: 10 };
      const found = await searchMemories(h.database, { ...of, query: "secret tea" });
      const told = await recall(h.database, { ...of, text: "secret tea" });
      return [...found, ...told].map(({ content }) => content);
    };
    const asks = fc.record({ channel: fc.constantFrom(...subjectChannels), id: fc.constantFrom(...ids, "", "6") });
    await fc.assert(
      fc.asyncProperty(asks, async ({ channel, id }) => {
        const own = said[people.indexOf(subjectKey(channel, id))]?.content;
        expect(await known(subjectKey(channel, id))).toEqual(own === undefined ? [] : [own, own]);
      }),
      { numRuns: 60 },
    );
    expect(await known("")).toEqual([]);
  });

  test("is named by channel and id over the API, `web` where no channel is said", async () => {
    const h = await memoryHarness();
    const [web, telegram] = [{ subject: "5" }, { subject: "5", subjectChannel: "telegram" }];
    expect((await h.add({ content: "Of the web", ...web })).memory).toMatchObject({ ...web, subjectChannel: "web" });
    expect(await h.add({ content: "Of the web", ...telegram })).toMatchObject({ event: "ADD", memory: telegram });
    await h.add({ content: "Looks like it", subject: "telegram:5" });
    expect((await h.add({ content: "A rule" })).memory).toMatchObject({ subject: "", subjectChannel: null });
    expect((await h.list("?subject=5")).memories).toMatchObject([{ ...web, subjectChannel: "web" }]);
    expect((await h.list("?subject=5&subjectChannel=telegram")).memories).toMatchObject([telegram]);
    expect((await h.list("?subject=5&subjectChannel=slack")).total).toBe(0);
    const deleted = await h.forget("?subject=5&subjectChannel=telegram");
    expect(await deleted.json()).toEqual({ deleted: true, count: 1 });
    expect((await h.contents()).sort()).toEqual(["A rule", "Looks like it", "Of the web"]);
  });

  test("is not named by a channel alone: nothing is deleted, listed or stored by mistake", async () => {
    const h = await memoryHarness();
    await h.add({ content: "Stays", subject: "5", subjectChannel: "telegram" });
    const answers = [
      await h.forget("?subjectChannel=telegram"),
      await h.request("/memories?subjectChannel=telegram", { headers: h.headers }),
      await h.post({ content: "For whom?", subjectChannel: "telegram" }),
    ];
    for (const answer of answers) {
      expect([answer.status, (await answer.json()).message]).toEqual([400, "subjectChannel: needs subject"]);
    }
    for (const channel of ["playground", "", "WEB", "telegram:5"]) {
      expect((await h.post({ content: "x", subject: "5", subjectChannel: channel })).status).toBe(400);
    }
    for (const subject of ["x".repeat(10_000), "a\0b"]) {
      expect((await h.post({ content: "x", subject, subjectChannel: "telegram" })).status).toBe(400);
    }
    expect(await h.contents()).toEqual(["Stays"]);
  });
});

test("what servers of an earlier release stored under bare ids gets its channel, and nothing else changes", async () => {
  const h = await memoryHarness();
  const telegram = await converse(h, [], { channel: "telegram", subject: "telegram:5" });
  const web = await converse(h, [], { channel: "web" });
  await h.save("Of a person", { subject: "web:x", conversationId: telegram.conversationId });
  await h.save("Of a visitor", { subject: "web:y", conversationId: web.conversationId });
  await h.save("Of a user", { subject: "web:z" });
  await h.save("Known", { subject: "web:z" });
  await h.save("Known", { subject: "web:5" });
  await h.save("A rule", { subject: "" });
  const bare = (content: string, from: string, to: string) =>
    h.database.query("update memories set subject = $1 where content = $2 and subject = $3", [to, content, from]);
  await bare("Of a person", "web:x", "5");
  await bare("Of a visitor", "web:y", web.ref);
  await bare("Of a user", "web:z", "ada:1");
  await bare("Known", "web:z", "5");
  await h.database.query("insert into jobs (id, kind, key) values (gen_random_uuid(), 'keyMemories', '')", []);
  await h.engine.tick();
  await vi.waitFor(async () => expect(await h.database.query("select 1 from jobs", [])).toEqual([]));
  expect((await h.rows()).map(({ subject, content }) => [content, subject]).sort()).toEqual([
    ["A rule", ""],
    ["Known", "5"],
    ["Known", "web:5"],
    ["Of a person", "telegram:5"],
    ["Of a user", "web:ada:1"],
    ["Of a visitor", `conversation:${web.ref}`],
  ]);
});
