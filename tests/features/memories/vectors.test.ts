import { describe, expect, test } from "vitest";
import type { Embedder, Models } from "../../../src/core/ports.ts";
import type { Database } from "../../../src/db/client.ts";
import { jobs } from "../../../src/db/schema.ts";
import { addVectors } from "../../../src/db/vectors.ts";
import { recall } from "../../../src/features/memories/index.ts";
import { enqueueMissing } from "../../../src/features/memories/meaning/embed.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { chatHarness } from "../chat/chat.ts";
import { memoryHarness } from "./memories.ts";
import { meaningOf, quiet, requireVectors, vectorHarness } from "./vectors.ts";

describe("meaning", () => {
  test("finds memories that share no word with the query, of the end user alone, along with those that do", async (context) => {
    const h = await vectorHarness(context);
    await h.add({ content: "Loves green tea", subject: "ada" });
    await h.add({ content: "Rides a bicycle", subject: "ada" });
    await h.add({ content: "Hates beverages from cans", subject: "ada" });
    await h.add({ content: "Drinks coffee", subject: "bob" });
    await h.add({ content: "The office has a tea kitchen" });
    expect(await h.search("Which beverage?")).toEqual(["Hates beverages from cans"]);
    expect(h.asked).toEqual([]);
    await h.worker.work();
    expect((await h.search("Which beverage?")).sort()).toEqual([
      "Hates beverages from cans",
      "Loves green tea",
      "The office has a tea kitchen",
    ]);
    expect(await h.search("Which vehicle?")).toEqual(["Rides a bicycle"]);
    expect((await h.search("A beverage", "web:bob")).sort()).toEqual(["Drinks coffee", "The office has a tea kitchen"]);
    expect(await h.search("?")).toEqual([]);
    const recalled = await recall(h.database, { ...h.about, text: "Which vehicle?", limit: 1, meaning: h.meaning });
    expect(recalled.map(({ content }) => content)).toEqual(["Rides a bicycle"]);
  });

  test("follows what changes: a memory's words, the model, and what goes", async (context) => {
    const h = await vectorHarness(context);
    const liking = (what: string) => ({
      content: `Likes ${what} very much on every single morning of the whole long week`,
      subject: "ada",
    });
    const { memory } = await h.add(liking("tea and the train"));
    await h.worker.work();
    expect([await h.search("Which beverage?"), await h.search("Which vehicle?")]).toEqual([
      [expect.any(String)],
      [expect.any(String)],
    ]);
    const changed = await h.add(liking("the train"));
    expect([changed.event, changed.memory.id]).toEqual(["UPDATE", memory.id]);
    // The vector of the old text no longer counts, and that of the new one is not there yet.
    expect([await h.search("Which beverage?"), await h.search("Which vehicle?")]).toEqual([[], []]);
    await h.worker.work();
    expect([await h.search("Which beverage?"), await h.search("Which vehicle?")]).toEqual([
      [],
      [liking("the train").content],
    ]);

    h.embedder.model = "fake:2";
    expect(await h.search("Which vehicle?")).toEqual([]);
    await h.add({ content: "Sings", subject: "ada" });
    await h.worker.work();
    expect((await h.vectors()).map(({ model }) => model)).toEqual(["fake:2", "fake:2"]);
    expect(await h.search("Which vehicle?")).toEqual([liking("the train").content]);
    await h.forget();
    expect(await h.vectors()).toEqual([]);
  });

  test("is found out in batches, and after a start for what has none yet", async (context) => {
    const h = await vectorHarness(context);
    h.services.options.vectors = false;
    for (let n = 0; n < 70; n += 1) await h.save(`Fact ${n}`);
    expect(await h.database.db.select().from(jobs)).toEqual([]);
    h.services.options.vectors = true;
    await enqueueMissing(h.services);
    await h.worker.work();
    expect(h.asked.map(({ length }) => length)).toEqual([32, 32, 6]);
    expect([(await h.vectors()).length, await h.database.db.select().from(jobs)]).toEqual([70, []]);
    await enqueueMissing(h.services);
    expect(await h.database.db.select().from(jobs)).toEqual([]);
  });

  test("that can't be told, or not in 400 ms, leaves what is found by words", async (context) => {
    let answer: Embedder["embed"] = async (texts) => texts.map(meaningOf);
    const h = await vectorHarness(context, (texts, signal) => answer(texts, signal));
    await h.add({ content: "Loves green tea", subject: "ada" });
    await h.worker.work();
    answer = async () => Promise.reject(new Error("Away"));
    expect(await h.search("Green beverage")).toEqual(["Loves green tea"]);
    answer = async () => [[1, 2]];
    expect(await h.search("Green beverage")).toEqual(["Loves green tea"]);
    const signals: AbortSignal[] = [];
    const begun = Promise.withResolvers<void>();
    answer = async (_texts, signal) => {
      signals.push(signal);
      begun.resolve();
      return new Promise(() => {});
    };
    const late = h.search("Green beverage");
    await begun.promise;
    await h.clock.advance(400);
    expect(await late).toEqual(["Loves green tea"]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(h.logs.filter((line) => line.includes("by their words alone"))).toHaveLength(3);
  });

  test("is known in turns, asks the provider of the agent alone, and counts for its budget", async (context) => {
    const asked: [string, string, number][] = [];
    const model = scriptedModel(() => reply("Tea."));
    const models: Models = {
      resolve: async () => model,
      async embed({ provider, model: name, apiKey }, texts) {
        asked.push([`${provider}:${name}`, apiKey ?? "", texts.length]);
        return { vectors: texts.map(meaningOf), tokens: 7 };
      },
    };
    const fields = { provider: "openai", model: "main", monthlyTokenBudget: 1_000_000 };
    const h = await chatHarness(undefined, fields, { models, environmentKeys: { openai_api_key: "k" } });
    await requireVectors(h.services.database, context);
    h.services.options.vectors = true;
    const { headers, slug } = h.agent;
    const remember = async (content: string, importance: number, subject: string) => {
      const json = { instanceId: slug, content, importance, subject };
      expect((await h.request("/memories", { method: "POST", headers, json })).status).toBe(201);
    };
    await remember("Loves green tea", 1, "ada");
    for (let n = 0; n < 12; n += 1) await remember(`Important ${n}`, 10, "ada");
    await h.engine.tick();
    await expect.poll(() => asked.length).toBe(1);
    await (await h.native("Which beverage?", { chat_id: "a", user: "ada" })).text();
    expect(JSON.stringify(model.calls.at(-1)?.prompt[0])).toContain("- Loves green tea (");
    expect(asked).toEqual([
      ["openai:text-embedding-3-small", "k", 13],
      ["openai:text-embedding-3-small", "k", 1],
    ]);
    await (await h.native("Which beverage?", { chat_id: "b", user: "eve" })).text();
    expect(asked).toHaveLength(2);

    models.embed = async () => {
      throw Object.assign(new Error("canary: wrong key k"), { statusCode: 401, requestBodyValues: "canary" });
    };
    await (await h.native("Which beverage?", { chat_id: "c", user: "ada" })).text();
    const said = h.logs.filter((line) => line.includes("by their words alone"));
    expect([said.length, said[0]]).toEqual([1, expect.stringContaining("gave no vectors (status 401)")]);
    expect(h.logs.join()).not.toContain("canary");

    const [used] = await h.services.database.query<{ used: string }>("select used::text from budget_periods", []);
    // Tokens of embeddings before the first turn of a month have no row to be counted in.
    expect(Number(used?.used)).toBeGreaterThanOrEqual(7);
  });
});

test("one call has at most 16 KiB of text", async (context) => {
  const h = await vectorHarness(context);
  for (let n = 0; n < 6; n += 1) await h.save(`${n} ${"ж".repeat(3_000)}`);
  await enqueueMissing(h.services);
  await h.worker.work();
  expect(h.asked.map(({ length }) => length)).toEqual([2, 2, 2]);
  expect([(await h.vectors()).length, await h.database.db.select().from(jobs)]).toEqual([6, []]);
});

test("all memories are looked at once an hour and after a failure, else the newest thousand", async (context) => {
  let answer: Embedder["embed"] = async (texts) => texts.map(meaningOf);
  const h = await vectorHarness(context, (texts, signal) => answer(texts, signal));
  const { id, organizationId } = h.agent;
  await h.database.query(
    `insert into memories (id, agent_id, organization_id, subject, content, digest, search, updated_at)
      select gen_random_uuid(), $1, $2, 'eve', n::text, sha256(n::text::bytea), '', now() - n * interval '1 day'
      from generate_series(1, 1001) n`,
    [id, organizationId],
  );
  await h.database.query(
    "insert into memory_vectors select id, digest, $1, '[0, 0, 1]' from memories where content <> '1001'",
    [h.embedder.model],
  );
  const oldest = "select 1 from memory_vectors v join memories m on m.id = v.memory_id where m.content = '1001'";
  const hasOldest = async () => (await h.database.query(oldest, [])).length === 1;
  const loseOldest = () =>
    h.database.query("delete from memory_vectors using memories where id = memory_id and content = '1001'", []);
  const learn = async (content: string) => {
    await h.add({ content, subject: "ada" });
    await h.worker.work();
  };
  await learn("Sings");
  expect([h.asked, await hasOldest()]).toEqual([[["Sings", "1001"]], true]);
  await loseOldest();
  await learn("Dances");
  expect([h.asked.at(-1), await hasOldest()]).toEqual([["Dances"], false]);
  await h.clock.jump(3_600_000);
  await learn("Paints");
  expect([h.asked.at(-1), await hasOldest()]).toEqual([["Paints", "1001"], true]);

  await loseOldest();
  answer = async () => Promise.reject(new Error("Away"));
  await learn("Cooks");
  answer = async (texts) => texts.map(meaningOf);
  await learn("Bakes");
  expect([h.asked.at(-1), await hasOldest()]).toEqual([["Bakes", "Cooks", "1001"], true]);
});

describe("a database", () => {
  test("without vectors is asked for none: no job, no call, and no statement more", async () => {
    const h = await memoryHarness();
    await h.add({ content: "Loves green tea", subject: "ada" });
    await enqueueMissing(h.services);
    expect(await h.database.db.select().from(jobs)).toEqual([]);
    const texts: string[] = [];
    const counting: Database = {
      ...h.database,
      query: (text, parameters) => {
        texts.push(text);
        return h.database.query(text, parameters);
      },
    };
    await recall(counting, { agentId: h.agent.id, subject: "web:ada", text: "tea", meaning: null });
    expect(texts).toHaveLength(1);
  });

  test("that has no such extension, or doesn't allow creating it, is used as it is", async () => {
    const lines: string[] = [];
    const log = { ...quiet, info: (_fields: object, message: string) => void lines.push(message) };
    const answering = (row: object, transaction: () => Promise<never>) =>
      ({ query: async () => [row], transaction }) as unknown as Database;
    const never = async () => Promise.reject(new Error("It was tried"));
    expect(await addVectors(answering({ made: false, available: false }, never), log)).toBe(false);
    expect(await addVectors(answering({ made: true, available: true }, never), log)).toBe(true);
    expect(lines).toEqual([]);
    const refused = async () => Promise.reject(Object.assign(new Error("no right"), { code: "42501" }));
    expect(await addVectors(answering({ made: false, available: true }, refused), log)).toBe(false);
    expect(lines).toEqual([expect.stringMatching(/^Memories are found by their words.*Create it as a superuser/)]);
    await expect(addVectors(answering({ made: false, available: true }, never), log)).rejects.toThrow("It was tried");
  });

  test("gets its table once, however many processes start at the same time", async (context) => {
    const h = await memoryHarness();
    await requireVectors(h.database, context);
    await h.database.query("drop table memory_vectors", []);
    expect(await Promise.all([addVectors(h.database, quiet), addVectors(h.database, quiet)])).toEqual([true, true]);
    expect(await addVectors(h.database, quiet)).toBe(true);
  });
});
