import { describe, expect, test } from "vitest";
import { ModelLimit } from "../../../src/features/turns/background/model-limit.ts";
import { Postponed } from "../../../src/jobs/postponed.ts";
import type { Failure, TurnOutcome } from "../../../src/turn/types.ts";
import { TestClock } from "../../clock.ts";

const named = { provider: "openai", model: "small", connectionId: "own", connection: "own" };
const done = { status: "done", text: "Yes.", answered: [] as TurnOutcome["answered"] } as TurnOutcome;
const failed = (failure: Partial<Failure>) =>
  ({
    status: "failed",
    answered: [] as TurnOutcome["answered"],
    failure: { message: "Model provider is rate limited", cause: null, ...failure },
  }) as TurnOutcome;
const throttled = (retryAfterSeconds: number) => failed({ code: "rate-limited", retryAfterSeconds });
const broken = failed({ code: "provider-failed", cause: { statusCode: 503 } });
const refused = failed({ code: "provider-failed", cause: { statusCode: 401 } });

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A model whose calls run until the test ends them, the oldest first. */
function asked() {
  const clock = new TestClock();
  const loop = { lateMs: 0 };
  const limit = new ModelLimit(
    clock,
    () => {},
    () => loop.lateMs,
  );
  const open: { owner: string; end: (outcome: TurnOutcome) => void }[] = [];
  const results: unknown[] = [];
  const call = (owner = "a", signal = new AbortController().signal) => {
    const ask = () => new Promise<TurnOutcome>((end) => void open.push({ owner, end }));
    void limit.call({ owner, signal, ask, model: named }).then(
      (outcome) => results.push(outcome.status),
      (error: unknown) => results.push(error),
    );
  };
  return {
    clock,
    loop,
    limit,
    results,
    call,
    calls: (count: number, owner?: string) => {
      for (let n = 0; n < count; n += 1) call(owner);
    },
    open: async () => {
      await settled();
      return open.length;
    },
    owners: () => open.map(({ owner }) => owner),
    end: async (outcome: TurnOutcome = done, count = 1) => {
      await settled();
      for (const { end } of open.splice(0, count)) end(outcome);
      await settled();
    },
  };
}

/** The number of concurrent calls after this many rounds, in each of which all running ones succeed. */
async function grown(rounds: number) {
  const model = asked();
  model.calls(1_000);
  const limits = [await model.open()];
  for (let round = 0; round < rounds; round += 1) {
    await model.end(done, await model.open());
    limits.push(await model.open());
  }
  return { ...model, limits };
}

describe("the calls that a model gets at a time", () => {
  test("begin few, become more while they go well, and never more than 128", async () => {
    expect((await grown(7)).limits).toEqual([4, 8, 16, 32, 64, 128, 128, 128]);
  });

  test("are halved where another model answered in place of this one, which pauses nothing", async () => {
    const model = await grown(3);
    const usage = { promptTokens: 1, completionTokens: 1 };
    const backup = { ...named, connectionId: "backup" };
    await model.end({ ...done, answered: [{ step: 0, model: backup, usage }] } as TurnOutcome, 32);
    expect(await model.open()).toBe(16);
    const own = { ...done, answered: [{ step: 0, model: named, usage }] } as TurnOutcome;
    for (let round = 0; round < 2; round += 1) await model.end(own, 16);
    expect(await model.open()).toBe(17);
  });

  test("do not become more while they aren't needed", async () => {
    const model = asked();
    for (let n = 0; n < 50; n += 1) {
      model.call();
      await model.end();
    }
    model.calls(20);
    expect(await model.open()).toBe(4);
  });

  test.each([
    ["429", throttled(2)],
    ["503", broken],
    ["no answer in time", failed({ code: "provider-timeout" })],
  ])("are halved once a round where the provider pushes back (%s), and then grow by one a round", async (_label, outcome) => {
    const model = await grown(3);
    expect(await model.open()).toBe(32);
    await model.end(outcome, 32);
    expect(await model.open()).toBe(0);
    await model.clock.advance(2_000);
    expect(await model.open()).toBe(16);
    const limits: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await model.end(done, await model.open());
      limits.push(await model.open());
    }
    expect(limits).toEqual([17, 18, 19].map((limit) => expect.toSatisfy((found) => Math.abs(found - limit) <= 1)));
  });

  test("are never fewer than one", async () => {
    const model = asked();
    model.calls(10);
    for (let n = 0; n < 6; n += 1) {
      await model.end(broken, await model.open());
      await model.clock.advance(2_000);
    }
    expect(await model.open()).toBe(1);
  });

  test("become fewer while this process is late, which would delay its turns, and more once it is not", async () => {
    const model = await grown(3);
    model.loop.lateMs = 20;
    const limits: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      await model.end(done, await model.open());
      limits.push(await model.open());
    }
    expect(limits).toEqual([16, 8, 8, 8]);
    model.loop.lateMs = 0;
    await model.end(done, 8);
    expect(await model.open()).toBe(16);
  });

  test("stay as many when the provider refuses the key or the request, which is not repeated", async () => {
    const model = asked();
    model.calls(8);
    await model.end(refused, 4);
    expect([await model.open(), model.results]).toEqual([4, ["failed", "failed", "failed", "failed"]]);
  });
});

describe("a provider that asks for a pause", () => {
  test("gets it, and then the same request again, three times at most", async () => {
    const model = asked();
    model.call();
    await model.end(throttled(7));
    await model.clock.advance(6_999);
    expect(await model.open()).toBe(0);
    await model.clock.advance(1);
    expect(await model.open()).toBe(1);
    await model.end(throttled(7));
    await model.clock.advance(7_000);
    await model.end(throttled(7));
    expect(model.results).toEqual([expect.any(Postponed)]);
    expect(model.results[0]).toMatchObject({ until: model.clock.now() + 7_000 });
  });

  test("gets no longer one because the clock was set back", async () => {
    const model = asked();
    model.call();
    await model.end(throttled(60));
    model.call();
    expect([await model.open(), model.results]).toEqual([0, [expect.any(Postponed), expect.any(Postponed)]]);
    await model.clock.jump(-3_600_000);
    model.call();
    expect([await model.open(), model.results.length]).toEqual([1, 2]);
  });

  test("of more than 10 seconds postpones the waiting jobs, whose slots are free meanwhile", async () => {
    const model = asked();
    model.calls(6);
    await model.end(throttled(60));
    const until = model.clock.now() + 60_000;
    const later = expect.objectContaining({ until });
    expect(model.results).toEqual([later, later, later]);
    model.call();
    await settled();
    expect([await model.open(), model.results]).toEqual([3, [later, later, later, later]]);
    await model.end(refused, 3);
    await model.clock.advance(60_000);
    model.calls(9);
    expect(await model.open()).toBe(2);
  });
});

describe("a caller that waits for a permit", () => {
  test("takes turns with other organizations, however many calls one of them wants", async () => {
    const model = asked();
    model.calls(50, "a");
    model.calls(2, "b");
    model.calls(1, "c");
    await settled();
    expect(model.owners()).toEqual(["a", "a", "a", "a"]);
    await model.end(refused, 4);
    expect(model.owners()).toEqual(["a", "b", "c", "a"]);
  });

  test("longer than half a minute is retried later", async () => {
    const model = asked();
    model.calls(5);
    await model.clock.advance(29_999);
    expect(model.results).toEqual([]);
    await model.clock.advance(1);
    await settled();
    expect(model.results).toEqual([expect.any(Postponed)]);
    expect(await model.open()).toBe(4);
  });

  test("but is no longer needed leaves", async () => {
    const model = asked();
    model.calls(4);
    const controller = new AbortController();
    model.call("a", controller.signal);
    await settled();
    controller.abort(new Error("stop"));
    await settled();
    expect(model.results).toMatchObject([{ message: "stop" }]);
    await model.end(done, 4);
    expect([await model.open(), model.limit.isIdle]).toEqual([0, true]);
  });
});
