import { describe, expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import { classifyFailure, isRetryable } from "../../src/turn/failure.ts";
import { inWords, readStep } from "./read-step.ts";
import { specs } from "./recorded.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const piece = 64 * 1024;
const limit = 8 * 1024 * 1024;
const delta = (content: string) => `data: {"id":"c","choices":[{"index":0,"delta":{"content":"${content}"}}]}`;
const end = 'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';

/** Reads from a provider that sends these pieces, each after the one before was read. */
async function ask(pieces: Iterable<Uint8Array>) {
  let sent = 0;
  let cancelled = false;
  const source = pieces[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { done, value } = source.next();
        if (done) return controller.close();
        sent += value.length;
        controller.enqueue(value);
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  const fetch = async () => new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  const model = await createModels({ fetch }).resolve(specs["openai-compatible"]);
  const { step, error } = await readStep(model, "Hi");
  return { step, error, sent: () => sent, cancelled: () => cancelled };
}

function* endless(text: string): Generator<Uint8Array> {
  const filler = bytes(text.repeat(Math.ceil(piece / text.length)));
  for (;;) yield filler;
}

describe("an event that never ends is a failure and closes the connection", () => {
  test.each([
    ["one line", "x"],
    ["lines of data", "data: x\n"],
    ["lines that end with CRLF", "data: x\r\n"],
  ])("%s", async (_what, text) => {
    const { step, error, sent, cancelled } = await ask(endless(text));
    expect(inWords(error)).toContain("The provider sent more than 8388608 bytes in one event");
    expect(classifyFailure(error)).toMatchObject({ code: "provider-failed", message: "Model provider error" });
    expect(isRetryable(error)).toBe(false);
    expect(step.produced).toBe(false);
    expect(sent()).toBeGreaterThan(limit);
    expect(sent()).toBeLessThan(limit + 4 * piece);
    expect(cancelled()).toBe(true);
  });

  test("also after complete events", async () => {
    const first = bytes(`${delta("half")}\n\n`);
    const { step, error } = await ask(
      (function* () {
        yield first;
        yield* endless("x");
      })(),
    );
    expect(step.text).toBe("half");
    expect(inWords(error)).toContain("in one event");
  });
});

describe("a long stream of short events is read completely", () => {
  /** More than the limit in all; the parser skips the comments. */
  const event = (newline: string) => `: ${"x".repeat(2000)}${newline}${delta("a")}${newline}${newline}`;
  const count = Math.ceil((limit * 1.25) / event("\n").length);

  test.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
  ])("with %s, however it is split", async (_what, newline) => {
    const text = bytes(event(newline));
    for (const at of [0, 1, 2, 3, 4, 5, 1000]) {
      const cut = text.length - at;
      const { step, error } = await ask(
        (function* () {
          for (let index = 0; index < count; index += 1) {
            yield text.subarray(0, cut);
            yield text.subarray(cut);
          }
          yield bytes(end);
        })(),
      );
      expect([at, error, step.text.length]).toEqual([at, undefined, count]);
    }
  });

  test("with a blank line in a piece of its own", async () => {
    const line = bytes(event("\n").slice(0, -1));
    const blank = bytes("\n");
    const { step, error } = await ask(
      (function* () {
        for (let index = 0; index < count; index += 1) {
          yield line;
          yield blank;
        }
        yield bytes(end);
      })(),
    );
    expect([error, step.text.length]).toEqual([undefined, count]);
  });
});

test("an event just below the limit is read", async () => {
  const { step, error } = await ask([bytes(`: ${"x".repeat(limit - 200)}\n`), bytes(`${delta("a")}\n\n`), bytes(end)]);
  expect([error, step.text]).toEqual([undefined, "a"]);
});
