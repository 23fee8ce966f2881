import { describe, expect, type TestContext, test } from "vitest";
import type { Services } from "../../../src/context/ctx.ts";
import { TextsRefused } from "../../../src/core/errors.ts";
import { unconfigured } from "../../../src/core/models/facts.ts";
import type { Embedder, Models } from "../../../src/core/ports.ts";
import type { agents } from "../../../src/db/schema.ts";
import { enqueueMissing } from "../../../src/features/memories/meaning/embed.ts";
import { embedInParts } from "../../../src/features/memories/meaning/parts.ts";
import { embedderFor } from "../../../src/features/turns/agent/embedder.ts";
import { memoryHarness } from "./memories.ts";
import { meaningOf, vectorHarness } from "./vectors.ts";

const textsOf = (count: number) => Array.from({ length: count }, (_, n) => ({ content: `text ${n}` }));
const contentsOf = (list: readonly { content: string }[]) => list.map(({ content }) => content);

/** The results for texts with a model that refuses some; `mood` is called before each call and may throw. */
async function embedded(
  texts: readonly { content: string }[],
  refuses: RegExp,
  { mood = (_call: number) => {}, failed = false, attempt = 1 } = {},
) {
  const calls: number[] = [];
  const made: string[] = [];
  const refused: string[] = [];
  const embed = async (asked: readonly string[]) => {
    calls.push(asked.length);
    mood(calls.length);
    if (asked.some((text) => refuses.test(text))) throw new TextsRefused("Refused", { failed });
    return asked.map((_, n) => [n]);
  };
  const keep = {
    async embedded(part: readonly { content: string }[], vectors: readonly (readonly number[])[]) {
      expect(vectors).toHaveLength(part.length);
      made.push(...contentsOf(part));
    },
    refused: async ({ content }: { content: string }) => void refused.push(content),
  };
  const { signal } = new AbortController();
  const problem = await embedInParts({ embed }, texts, keep, { attempt, signal }).catch((error) => error);
  return { calls, made: made.sort(), refused: refused.sort(), problem };
}

describe("texts for a model", () => {
  test("go in one call where it takes them all, and in halves where it refuses some", async () => {
    const texts = textsOf(8);
    expect(await embedded(texts, /never/)).toEqual({
      calls: [8],
      made: contentsOf(texts),
      refused: [],
      problem: undefined,
    });
    expect(await embedded(texts, /[36]/)).toEqual({
      // The second call is the one with the harmless text.
      calls: [8, 1, 4, 4, 2, 2, 2, 2, 1, 1, 1, 1],
      made: contentsOf(texts.filter((_, n) => n !== 3 && n !== 6)),
      refused: ["text 3", "text 6"],
      problem: undefined,
    });
    expect(await embedded(textsOf(1), /0/)).toMatchObject({ calls: [1, 1], made: [], refused: ["text 0"] });
  });

  test("are not given up where it refuses every text", async () => {
    const refusal = await embedded(textsOf(4), /./);
    expect(refusal).toEqual({ calls: [4, 1], made: [], refused: [], problem: expect.any(TextsRefused) });
  });

  test("keep their vectors when it fails in between", async () => {
    const away = new Error("Away");
    const mood = (call: number) => {
      if (call === 5) throw away;
    };
    const failing = await embedded(textsOf(4), /0/, { mood });
    expect(failing).toEqual({ calls: [4, 1, 2, 2, 1], made: ["text 2", "text 3"], refused: [], problem: away });
  });
});

test("a text that a model fails at alone is tried again before it is given up, and keeps no other waiting", async () => {
  const others = ["text 0", "text 2", "text 3"];
  for (const attempt of [1, 2]) {
    expect(await embedded(textsOf(4), /1/, { failed: true, attempt })).toEqual({
      calls: [4, 1, 2, 2, 1, 1],
      made: others,
      refused: [],
      problem: expect.any(TextsRefused),
    });
  }
  expect(await embedded(textsOf(4), /1/, { failed: true, attempt: 3 })).toMatchObject({
    made: others,
    refused: ["text 1"],
    problem: undefined,
  });
  // A model that fails at every text proves nothing about these.
  expect(await embedded(textsOf(4), /./, { failed: true, attempt: 3 })).toMatchObject({ made: [], refused: [] });
});

/** The embedder of an agent whose provider fails with this error. */
function embedderOf(services: Services, row: typeof agents.$inferSelect, embed: Models["embed"]): Embedder {
  const models: Models = { resolve: async () => Promise.reject(new Error("Not asked")), ...(embed ? { embed } : {}) };
  const options = { ...services.options, vectors: true, environmentKeys: new Map([["openai_api_key", "k"]]) };
  const providers = { bindings: {}, connections: [], admission: unconfigured.admission };
  const secrets = new Map<string, string>();
  const owner = { row: { ...row, provider: "openai" }, secrets, inFirstOrganization: true, providers, prices: null };
  const embedder = embedderFor({ ...services, models, options }, owner);
  if (!embedder) throw new Error("OpenAI has an embedding model");
  return embedder;
}

test("only some failures are of texts: not those of a key, an account, a model, or of a pace", async () => {
  const h = await memoryHarness();
  const isOfTexts = async (fields: object) => {
    const failing = async () => Promise.reject(Object.assign(new Error("canary"), fields));
    const told = await embedderOf(h.services, h.agent, failing)
      .embed(["a"], new AbortController().signal)
      .catch((problem: unknown) => problem);
    expect(String(told)).not.toContain("canary");
    return told instanceof TextsRefused ? (told.failed ? "failed" : "refused") : null;
  };
  for (const statusCode of [400, 413, 422]) expect(await isOfTexts({ statusCode })).toBe("refused");
  for (const statusCode of [500, 503, 529]) expect(await isOfTexts({ statusCode })).toBe("failed");
  for (const statusCode of [200, 401, 402, 403, 404, 408, 429]) expect(await isOfTexts({ statusCode })).toBeNull();
  expect(await isOfTexts({ code: "ECONNREFUSED" })).toBeNull();
});

describe("a memory that the provider refuses", () => {
  async function refusing(context: TestContext) {
    const state = { status: 400, refuses: /unfit/ };
    const h = await vectorHarness(context, (texts, signal) => provider.embed(texts, signal));
    const provider = embedderOf(h.services, h.agent, async (_spec, texts) => {
      if (!texts.some((text) => state.refuses.test(text))) return { vectors: texts.map(meaningOf), tokens: 1 };
      throw Object.assign(new Error("canary"), { statusCode: state.status });
    });
    const remember = (content: string) => h.add({ content, subject: "ada" });
    const counts = () =>
      h.database.query("select model, count(*)::int from memory_vectors group by model order by model", []);
    const waiting = () => h.database.query("select attempts from jobs", []);
    return { ...h, state, remember, counts, waiting };
  }

  const model = "fake:1";

  test("keeps no other from its vector, and is asked for again only once it says something else", async (context) => {
    const h = await refusing(context);
    const unfit = "An unfit remark about tea that was made on a long monday in the kitchen";
    for (let n = 0; n < 40; n += 1) await h.remember(`Fact ${n} of tea`);
    await h.remember(unfit);
    await h.worker.work();
    const noted = [
      { model, count: 40 },
      { model: `refused:${model}`, count: 1 },
    ];
    expect([await h.counts(), await h.waiting()]).toEqual([noted, []]);
    expect(h.logs.filter((line) => line.includes("is found by its words alone"))).toHaveLength(1);
    expect(h.logs.join()).not.toContain("canary");
    expect(await h.search("remark")).toEqual([unfit]);
    expect(await h.search("Which beverage?")).toHaveLength(5);

    h.asked.length = 0;
    await h.remember("Rides a bicycle");
    await enqueueMissing(h.services);
    await h.worker.work();
    expect(h.asked).toEqual([["Rides a bicycle"]]);
    expect(await h.search("Which vehicle?")).toEqual(["Rides a bicycle"]);

    h.asked.length = 0;
    const changed = unfit.replace("unfit ", "");
    h.state.refuses = /never/;
    expect((await h.remember(changed)).event).toBe("UPDATE");
    await h.worker.work();
    expect([h.asked, await h.counts()]).toEqual([[[changed]], [{ model, count: 42 }]]);
  });

  test("keeps none from its vector where the provider always fails at it", async (context) => {
    const h = await refusing(context);
    h.state.status = 500;
    await h.remember("An unfit remark");
    await h.remember("Loves green tea");
    for (const attempts of [1, 2]) {
      await h.worker.work();
      await h.worker.work();
      expect([await h.waiting(), await h.counts()]).toEqual([[{ attempts }], [{ model, count: 1 }]]);
      await h.database.query("update jobs set run_at = '-infinity'", []);
    }
    await h.worker.work();
    const refused = { model: `refused:${model}`, count: 1 };
    expect([await h.waiting(), await h.counts()]).toEqual([[], [{ model, count: 1 }, refused]]);
  });

  test("is tried anew by another model", async (context) => {
    const h = await refusing(context);
    await h.remember("An unfit remark");
    await h.worker.work();
    expect(await h.counts()).toEqual([{ model: "refused:fake:1", count: 1 }]);
    Object.assign(h.embedder, { model: "fake:2" });
    h.state.refuses = /never/;
    await h.remember("Loves green tea");
    await h.worker.work();
    expect(await h.counts()).toEqual([{ model: "fake:2", count: 2 }]);
  });

  test("is tried again where the key, the pace or every text is refused", async (context) => {
    const h = await refusing(context);
    h.state.refuses = /./;
    await h.remember("Loves green tea");
    for (const [index, status] of [400, 401, 429].entries()) {
      h.state.status = status;
      await h.worker.work();
      await h.worker.work();
      expect([await h.waiting(), await h.counts()]).toEqual([[{ attempts: index + 1 }], []]);
      await h.database.query("update jobs set run_at = '-infinity'", []);
    }
    // A refusal of every text is detected with a harmless one.
    expect(h.asked.flat()).toEqual(["Loves green tea", "Hello", "Loves green tea", "Loves green tea"]);
    h.state.refuses = /never/;
    await h.worker.work();
    expect([await h.waiting(), await h.counts()]).toEqual([[], [{ model, count: 1 }]]);
  });
});
