import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answering, oracle, ours, said, type Wire } from "./chat-oracle.ts";
import { chunk, compatibleShapes, event, mistralShapes, shapes, stop, usage } from "./chat-shapes.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

const files = ["answer", "reasoning-tool"];
const recordings: Record<Wire, string[]> = {
  "openai-compatible": [
    ...files.flatMap((file) => [`openai-compatible/${file}`, `ollama/${file}`]),
    ...["text", "parallel-tools", "deepseek-reasoning", "openrouter-reasoning-tool"].map(
      (file) => `openai-compatible/${file}`,
    ),
    "ollama/tool",
  ],
  mistral: files.map((file) => `mistral/${file}`),
};

/** Cases in which the common reader, which also reads Mistral's streams, differs from Mistral's package. */
const apart: Record<string, string> = {
  nothing: "an error part says so, which the package leaves to the finish",
  "a last chunk with usage only": "the package fails at a chunk without a choice",
  "a filter": "the package calls it `other`, so that an empty reply would pass for one",
};

const payloads: [wire: Wire, what: string, text: string][] = [];
for (const wire of ["openai-compatible", "mistral"] as const) {
  for (const name of recordings[wire]) {
    const url = new URL(`../fixtures/providers/${name}.sse`, import.meta.url);
    payloads.push([wire, name, await readFile(url, "utf8")]);
  }
  const own = wire === "mistral" ? mistralShapes : compatibleShapes;
  for (const [what, text] of Object.entries({ ...shapes, ...own })) {
    if (wire === "openai-compatible" || !(what in apart)) payloads.push([wire, what, text]);
  }
}

test.each(payloads)("%s: %s is read as the provider's package reads it", async (wire, _what, text) => {
  const fetch = answering([bytes(text)]);
  const parts = await said(await ours(wire, fetch));
  expect(parts).toEqual(await said(oracle(wire, fetch)));
});

test("a stream that is cut anywhere is read like the whole one", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...payloads),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
      async ([wire, , text], places) => {
        const whole = bytes(text);
        const cuts = [
          0,
          ...places.map((place) => Math.floor(place * whole.length)).sort((a, b) => a - b),
          whole.length,
        ];
        const pieces = cuts.slice(1).map((end, index) => whole.subarray(cuts[index], end));
        const fetch = answering(pieces);
        const parts = await said(await ours(wire, fetch));
        expect(parts).toEqual(await said(await ours(wire, answering([whole]))));
        expect(parts).toEqual(await said(oracle(wire, fetch)));
      },
    ),
    { numRuns: 200 },
  );
});

test("also byte by byte", async () => {
  for (const [wire, what, text] of payloads) {
    const pieces = Array.from(bytes(text), (byte) => Uint8Array.of(byte));
    expect([what, await said(await ours(wire, answering(pieces)))]).toEqual([
      what,
      await said(await ours(wire, answering([bytes(text)]))),
    ]);
  }
});

const word = fc.constantFrom("", "a", "Zürich", "🏔️", " \n");
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const pieces = fc.record(
  {
    index: maybe(fc.constantFrom(0, 1, 2)),
    id: maybe(fc.constantFrom("", "call_1", "call_2")),
    function: fc.record(
      {
        name: maybe(fc.constantFrom("", "clock", "weather")),
        arguments: maybe(fc.constantFrom("", "{", "}", "{}", '{"a":"', '"}', "1")),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ["function"] },
);
const deltas = fc.record(
  {
    role: fc.constant("assistant"),
    content: maybe(
      fc.oneof(word, fc.array(fc.record({ type: fc.constantFrom("text", "other"), text: word }), { maxLength: 2 })),
    ),
    reasoning_content: maybe(word),
    reasoning: maybe(word),
    refusal: fc.oneof(maybe(word), fc.boolean()),
    tool_calls: maybe(fc.array(pieces, { maxLength: 3 })),
  },
  { requiredKeys: [] },
);
const chunks = fc
  .record(
    {
      id: fc.constantFrom("c1", "", null),
      choices: fc.oneof(
        {
          weight: 9,
          arbitrary: fc.tuple(
            fc.record(
              { delta: maybe(deltas), finish_reason: maybe(fc.constantFrom("stop", "length", "tool_calls", "x")) },
              { requiredKeys: [] },
            ),
          ),
        },
        { weight: 1, arbitrary: fc.constant([]) },
      ),
      usage: maybe(fc.record({ prompt_tokens: maybe(fc.nat(9)), completion_tokens: fc.nat(9) }, { requiredKeys: [] })),
      error: fc.constant({ message: "boom", code: "x" }),
    },
    { requiredKeys: ["choices"] },
  )
  .map(({ error, ...chunk }) => (error && chunk.id === null ? { error } : chunk));

test("unusual chunks are read as the provider's package reads them", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(chunks, { maxLength: 8 }), async (odd) => {
      const fetch = answering([bytes(odd.map(event).join(""))]);
      const own = await said(await ours("openai-compatible", fetch));
      const expected = await said(oracle("openai-compatible", fetch));
      expect(own.at(-1)).toEqual(expected.at(-1));
      // The package forgets the last parts before a call that has no name.
      const same = expected.at(-1) === "thrown" ? expected.length - 2 : undefined;
      expect(own.slice(0, same)).toEqual(expected.slice(0, same));
    }),
    { numRuns: 500 },
  );
});

describe("where the reader differs from the packages on purpose", () => {
  const read = async (wire: Wire, text: string) => said(await ours(wire, answering([bytes(text)])));
  const types = (parts: unknown[]) => parts.map((part) => (part as { type?: string }).type ?? part);

  test("fields that it does not use may be of any shape", async () => {
    const odd = event({ id: 5, created: "now", choices: [{ index: "x", delta: { role: "model", content: "Hi" } }] });
    expect(types(await read("openai-compatible", odd + stop))).not.toContain("error");
    expect(types(await said(oracle("openai-compatible", answering([bytes(odd + stop)]))))).toContain("error");
  });

  test("a null error is no error, and an error may be plain text", async () => {
    expect(
      types(await read("openai-compatible", chunk({ content: "Hi" }, null, { error: null }) + stop)),
    ).not.toContain("error");
    expect(types(await read("openai-compatible", event({ error: "boom" })))).toContain("error");
  });

  test("a last chunk with counts of tokens needs no choices", async () => {
    for (const last of [{ usage }, { choices: null, usage }]) {
      const parts = await read("openai-compatible", chunk({ content: "Hi" }, "stop") + event(last));
      expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "stop" }, input: 7, output: 5 });
      expect(types(parts)).not.toContain("error");
    }
  });

  test("a finish reason of an error is an error for all", async () => {
    const parts = await read("openai-compatible", chunk({ content: "Hi" }, "error"));
    expect(parts.at(-1)).toMatchObject({ finishReason: { unified: "error", raw: "error" } });
  });

  test("Mistral's errors say what they are", async () => {
    const error = { object: "error", message: "boom", type: "unreachable_backend", code: "1100" };
    expect(await read("mistral", event(error))).toContainEqual({ type: "error", error });
  });

  test.each(Object.entries(apart))("Mistral: %s: %s", async (what) => {
    const text = shapes[what] ?? "";
    expect(await read("mistral", text)).toEqual(await said(oracle("openai-compatible", answering([bytes(text)]))));
  });
});
