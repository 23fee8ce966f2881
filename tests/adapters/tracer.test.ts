import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pooledPost } from "../../src/adapters/node/post/post.ts";
import { requestJson, spanJson } from "../../src/adapters/tracer/otlp.ts";
import { createTracer } from "../../src/adapters/tracer/tracer.ts";
import { randomHex } from "../../src/core/ids.ts";
import type { Log } from "../../src/core/ports.ts";
import type { Collector, Span } from "../../src/core/tracing.ts";
import { TestClock } from "../clock.ts";
import { eventually } from "../features/chat/chat.ts";
import { otlpReceiver } from "../otlp-receiver.ts";

const span = (name: string, attributes: Span["attributes"] = {}): Span => ({
  traceId: randomHex(32),
  spanId: randomHex(16),
  parentSpanId: null,
  kind: "internal",
  name,
  startMs: Date.UTC(2026, 0, 1),
  endMs: Date.UTC(2026, 0, 1) + 1,
  attributes,
  failure: null,
  links: [],
});

async function tracing() {
  const receiver = await otlpReceiver();
  const clock = new TestClock();
  const lines: string[] = [];
  const write = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log };
  const tracer = createTracer({ clock, log, post: pooledPost() });
  const collector = (id: string): Collector => ({
    id,
    name: `the collector of ${id}`,
    url: `${receiver.url}/v1/traces`,
    headers: { Authorization: id },
    resource: { "service.name": "test" },
  });
  const send = (name: string, to = "a") => tracer.send(collector(to), () => [span(name)]);
  /** Moves the clock until this many spans in all have arrived. */
  const arrived = (count: number) =>
    eventually(async () => {
      await clock.advance(100);
      const { spans } = receiver;
      return spans().length >= count && spans().map(({ name }) => name);
    });
  /** Waits until the collector acknowledged this many spans in all, which is after they arrived. */
  const acknowledged = (count: number) => expect.poll(() => tracer.counts().sent).toBe(count);
  const settled = (dropped: number) =>
    eventually(async () => {
      await clock.advance(100);
      return tracer.counts().dropped >= dropped;
    });
  return { receiver, clock, lines, tracer, collector, send, arrived, acknowledged, settled };
}

const nowhere = "http://127.0.0.1:9/v1/traces";

describe("traces", () => {
  test("are sent in batches: a second after the first one, or when there are 32", async () => {
    const t = await tracing();
    for (let n = 0; n < 3; n += 1) t.send(`few ${n}`);
    await t.clock.advance(999);
    expect(t.receiver.received).toEqual([]);
    expect(await t.arrived(3)).toEqual(["few 0", "few 1", "few 2"]);
    expect(t.receiver.received).toHaveLength(1);
    for (let n = 0; n < 32; n += 1) t.send(`many ${n}`);
    await t.clock.advance(0);
    await eventually(async () => t.tracer.counts().sent === 35);
    expect(t.receiver.received).toHaveLength(2);
  });

  test("of many projects are sent separately, at the same time", async () => {
    const t = await tracing();
    const ids = Array.from({ length: 50 }, (_, n) => `project ${n}`);
    for (const id of ids) for (const part of ["one", "two"]) t.send(`${id} ${part}`, id);
    await t.arrived(100);
    for (const id of ids) {
      expect(t.receiver.spans(id).map(({ name }) => name)).toEqual([`${id} one`, `${id} two`]);
    }
  });

  test("are sent again while the collector is busy, after the pause that it requests", async () => {
    const t = await tracing();
    t.receiver.answer({ status: 503 }, { status: 429, headers: { "Retry-After": "7" } }, { status: 200 });
    t.send("patient");
    expect(await t.arrived(1)).toEqual(["patient"]);
    // A second of gathering, one after the 503, seven after the 429.
    expect(t.clock.now() - Date.UTC(2026, 0, 1)).toBeGreaterThanOrEqual(9_000);
    await t.acknowledged(1);
    expect(t.lines).toEqual([
      'Traces cannot be delivered {"collector":"the collector of a","reason":"It answered 503"}',
      'Traces are delivered again {"collector":"the collector of a","dropped":0}',
    ]);
  });

  test("that a collector refuses are dropped and counted, and later ones are sent", async () => {
    const t = await tracing();
    t.receiver.answer({ status: 400 }, { status: 200 });
    t.send("bad");
    await t.settled(1);
    t.send("good");
    expect(await t.arrived(1)).toEqual(["good"]);
    await t.acknowledged(1);
    expect(t.tracer.counts()).toEqual({ sent: 1, dropped: 1 });
    expect(t.lines[1]).toBe('Traces are delivered again {"collector":"the collector of a","dropped":1}');
  });

  test("of a revoked key are dropped for a minute without a request, while other keys are used", async () => {
    const t = await tracing();
    t.receiver.answer({ status: 401 }, { status: 200 });
    t.send("revoked");
    await t.settled(1);
    for (let n = 0; n < 5; n += 1) t.send("meanwhile");
    expect(t.tracer.counts().dropped).toBe(6);
    t.send("other", "b");
    expect(await t.arrived(1)).toEqual(["other"]);
    await t.acknowledged(1);
    await t.clock.advance(60_000);
    t.send("valid again");
    expect(await t.arrived(2)).toEqual(["other", "valid again"]);
    await t.acknowledged(2);
    expect(t.lines).toHaveLength(2);
  });

  test("in a batch that is too large are sent again in halves; one too large by itself is dropped", async () => {
    const t = await tracing();
    const largest = 4_000;
    t.receiver.takeAtMost(largest);
    for (let n = 0; n < 20; n += 1) t.send(`small ${n}`);
    t.tracer.send(t.collector("a"), () => [span("large", { long: "x".repeat(largest) })]);
    for (let n = 20; n < 30; n += 1) t.send(`small ${n}`);
    await t.settled(1);
    await t.acknowledged(30);
    expect(t.tracer.counts()).toEqual({ sent: 30, dropped: 1 });
    expect(t.receiver.spans().map(({ name }) => name)).toEqual(Array.from({ length: 30 }, (_, n) => `small ${n}`));
  });

  test("that a collector takes in part are counted as it says", async () => {
    const t = await tracing();
    t.receiver.answer({ status: 200, body: '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}}' });
    for (const name of ["one", "two", "three"]) t.send(name);
    await t.arrived(3);
    await t.settled(2);
    expect(t.tracer.counts()).toEqual({ sent: 1, dropped: 2 });
    expect(t.lines).toEqual([expect.stringContaining("It did not take all spans")]);
  });
});

describe("an unreachable collector", () => {
  test("gets the waiting traces later; those without room are counted", async () => {
    const t = await tracing();
    t.receiver.answer({ status: 503 });
    const long = "x".repeat(600 * 1024);
    t.send("first");
    await eventually(async () => {
      await t.clock.advance(100);
      return t.lines.length > 0;
    });
    for (let n = 0; n < 20; n += 1) t.tracer.send(t.collector("a"), () => [span(`${n}`, { long })]);
    // 13 of these take 8 MB.
    await t.settled(7);
    t.receiver.answer({ status: 200 });
    expect(await t.arrived(14)).toEqual(["first", ...Array.from({ length: 13 }, (_, n) => `${n}`)]);
    await eventually(async () => t.tracer.counts().sent === 14);
    expect(t.tracer.counts()).toEqual({ sent: 14, dropped: 7 });
    expect(t.lines.at(-1)).toContain('"dropped":7');
  });

  test("is given up after six attempts, and delays no other", async () => {
    const t = await tracing();
    const away: Collector = { ...t.collector("away"), url: nowhere };
    t.tracer.send(away, () => [span("lost")]);
    t.send("here");
    expect(await t.arrived(1)).toEqual(["here"]);
    await eventually(async () => {
      await t.clock.advance(1_000);
      return t.tracer.counts().dropped === 1;
    });
    expect(t.lines).toEqual([expect.stringMatching(/^Traces cannot be delivered .*ECONNREFUSED/)]);
  });

  test("that never responds has 10 seconds for each attempt", async () => {
    const t = await tracing();
    t.receiver.answer("hang");
    t.send("late");
    await t.clock.advance(1_000);
    await eventually(async () => {
      await t.clock.advance(10_000);
      return t.lines.length > 0;
    });
    expect(t.lines[0]).toContain("It did not answer within 10 s");
    t.receiver.answer({ status: 200 });
    expect(await t.arrived(1)).toEqual(["late"]);
  });

  test("lets at most 1,000 traces wait to be made", async () => {
    const t = await tracing();
    let made = 0;
    for (let n = 0; n < 1_200; n += 1) {
      t.tracer.send(t.collector("a"), () => {
        made += 1;
        return [span("x")];
      });
    }
    expect([made, t.tracer.counts().dropped]).toEqual([0, 200]);
    await t.arrived(1_000);
    expect(made).toBe(1_000);
  });

  test("a trace that can't be made is counted, and the others are sent", async () => {
    const t = await tracing();
    t.send("one");
    t.tracer.send(t.collector("a"), () => {
      throw new Error("made badly");
    });
    t.send("two");
    expect(await t.arrived(2)).toEqual(["one", "two"]);
    expect(t.tracer.counts().dropped).toBe(1);
  });
});

describe("a stop", () => {
  test("sends waiting traces, also those to be sent again later", async () => {
    const t = await tracing();
    t.receiver.answer({ status: 503 });
    t.send("waits for its second attempt");
    await eventually(async () => {
      await t.clock.advance(50);
      return t.lines.length > 0;
    });
    t.receiver.answer({ status: 200 });
    t.send("was just gathered");
    await t.tracer.close(5_000);
    expect(t.receiver.spans()).toHaveLength(2);
    t.send("too late");
    expect(t.tracer.counts()).toEqual({ sent: 2, dropped: 1 });
  });

  test("waits no longer than allowed", async () => {
    const t = await tracing();
    t.receiver.answer("hang");
    t.send("lost");
    let closed = false;
    const closing = t.tracer.close(5_000).then(() => {
      closed = true;
    });
    await t.clock.advance(4_999);
    expect(closed).toBe(false);
    await t.clock.advance(1);
    await closing;
    expect(t.tracer.counts()).toEqual({ sent: 0, dropped: 1 });
    expect(t.lines).toEqual([expect.stringContaining("It had not answered when the process stopped")]);
  });

  test("without grace drops waiting traces at once, also those being sent", async () => {
    const t = await tracing();
    t.receiver.answer("hang");
    t.send("on its way");
    await t.clock.advance(1_000);
    t.send("gathered");
    await t.tracer.close(0);
    expect(t.tracer.counts()).toEqual({ sent: 0, dropped: 2 });
  });
});

test("whatever texts there are, the request is JSON that any program can read", () => {
  const text = fc.string({
    unit: fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\ud800", "\udc00", "\0", '"', "\\")),
  });
  fc.assert(
    fc.property(text, text, (name, value) => {
      const json = requestJson({ s: value }, [spanJson(span(name, { [name]: value, list: [value], n: 1.5, b: true }))]);
      expect(json.isWellFormed()).toBe(true);
      expect(json).not.toMatch(/\\u0000|(?<!\\)(\\\\)*\\ud[89a-f]/i);
      const read = JSON.parse(json).resourceSpans[0].scopeSpans[0].spans[0];
      expect(read.name).toBe(name.replaceAll("\0", "").toWellFormed());
    }),
  );
});
