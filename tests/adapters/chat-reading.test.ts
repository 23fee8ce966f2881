import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answering, oracle, ours, said, type Wire } from "./chat-oracle.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

const event = (data: unknown) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const chunk = (delta: unknown, finish: string | null = null, more: object = {}) =>
  event({
    id: "c1",
    created: 1_763_712_000,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  });
const tool = (...pieces: object[]) => chunk({ tool_calls: pieces });
const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
const stop = chunk({}, "stop", { usage }) + event("[DONE]");
const stopForTools = chunk({}, "tool_calls", { usage }) + event("[DONE]");

/** What servers send, besides what is recorded of them. */
const shapes: Record<string, string> = {
  "a call in pieces":
    tool({ index: 0, id: "call_1", type: "function", function: { name: "clock", arguments: "" } }) +
    tool({ index: 0, function: { arguments: '{"zo' } }) +
    tool({ index: 0, function: { arguments: 'ne":"UTC"}' } }) +
    stopForTools,
  "two calls at once":
    tool(
      { index: 0, id: "call_1", function: { name: "clock", arguments: '{"a":' } },
      { index: 1, id: "call_2", function: { name: "weather", arguments: "{" } },
    ) +
    tool({ index: 1, function: { arguments: '"b":2}' } }, { index: 0, function: { arguments: "1}" } }) +
    stopForTools,
  "calls without an index":
    tool({ id: "call_1", function: { name: "clock", arguments: "{}" } }) +
    tool({ id: "call_2", function: { name: "clock", arguments: '{"a":1}' } }) +
    stopForTools,
  "calls without ids":
    tool({ index: 0, function: { name: "clock", arguments: "{}" } }) +
    tool({ index: 1, id: "", function: { name: "weather", arguments: "{}" } }) +
    stopForTools,
  "a call without index, id and arguments": tool({ function: { name: "clock" } }) + stopForTools,
  "calls that share an index and an id":
    tool({ index: 0, id: "x", function: { name: "clock", arguments: "{}" } }) +
    tool({ index: 0, id: "x", function: { name: "weather", arguments: "{}" } }) +
    stopForTools,
  "a call that repeats its name and id":
    tool({ index: 0, id: "call_1", function: { name: "clock", arguments: '{"a"' } }) +
    tool({ index: 0, id: "call_1", function: { name: "clock", arguments: ":1}" } }) +
    tool({ index: 0, id: "", function: { name: "", arguments: "" } }) +
    stopForTools,
  "text, then a call":
    chunk({ content: "Let me " }) +
    chunk({ content: "look." }) +
    tool({ index: 0, id: "call_1", function: { name: "clock", arguments: "{}" } }) +
    stopForTools,
  "a reason with the last words": chunk({ role: "assistant", content: "Hi" }, "length", { usage }),
  "a last chunk with usage only": chunk({ content: "Hi" }, "stop") + event({ choices: [], usage }) + event("[DONE]"),
  "usage in each chunk": chunk({ content: "H" }, null, { usage }) + chunk({ content: "i" }, "stop", { usage }),
  "no usage": chunk({ content: "Hi" }) + chunk({}, "stop"),
  "counts that are null": chunk({ content: "Hi" }, "stop", { usage: null }),
  "another reason": chunk({ content: "Hi" }, "eos"),
  "a filter": chunk({ content: "Hi" }) + chunk({}, "content_filter"),
  "no [DONE]": chunk({ content: "Hi" }) + chunk({}, "stop", { usage }),
  "no reason": chunk({ content: "Hi" }) + event("[DONE]"),
  "an end within an event": `${chunk({ content: "Hi" })}${chunk({}, "stop")}data: {"choices":[`,
  nothing: "",
  "[DONE] alone": event("[DONE]"),
  "null and empty contents":
    chunk({ role: "assistant", content: null }) + chunk({ content: "" }) + chunk({ content: "Hi" }) + stop,
  "comments and other fields": `: ping\n\nid: 1\nevent: chunk\nretry: 10\nodd\n${chunk({ content: "Hi" })}:\n\n${stop}`,
  "data without a space": `${chunk({ content: "Hi" })}${stop}`.replaceAll("data: ", "data:"),
  "data in several lines": `data: {"id":"c1","choices":\ndata: [{"index":0,"delta":{"content":"Hi"}}]}\n\n${stop}`,
  CRLF: `${chunk({ content: "Hi" })}: ping\n\n${stop}`.replaceAll("\n", "\r\n"),
  "a byte order mark": `\ufeff${chunk({ content: "Hi" })}${stop}`,
  "long and wide letters": chunk({ content: "Grüße 🏔️ 日本 \u2028 \\n \ufeff" }) + stop,
  "bad JSON": `${chunk({ content: "half" })}data: {"choices":[\n\n${chunk({ content: "more" })}${stop}`,
  "an event that is no chunk": event({ pong: true }) + event("5") + stop,
};

/** What only OpenAI and the servers of its kind send. */
const compatibleShapes: Record<string, string> = {
  "thoughts as reasoning_content":
    chunk({ reasoning_content: "Two " }) + chunk({ reasoning_content: "and two" }) + chunk({ content: "4" }) + stop,
  "thoughts as reasoning": chunk({ reasoning: "Hm", content: "" }) + chunk({ reasoning: null, content: "4" }) + stop,
  "thoughts between words":
    chunk({ content: "a" }) + chunk({ reasoning: "Hm" }) + chunk({ content: "b", reasoning: "so" }) + stop,
  "thoughts, then a call":
    chunk({ reasoning: "Hm" }) +
    tool({ index: 0, id: "call_1", function: { name: "clock", arguments: "{}" } }) +
    stopForTools,
  "thoughts as parts":
    chunk({
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "Hm" }, { type: "image" }] },
        { type: "text", text: "4" },
        { type: "other" },
      ],
    }) + stop,
  "a refusal": chunk({ refusal: "I can" }) + chunk({ refusal: "not." }) + stop,
  "a refusal that is none": chunk({ content: "Hi", refusal: false }) + stop,
  "an error": chunk({ content: "half" }) + event({ error: { message: "boom", type: "server_error", code: 503 } }),
  "an error, and more": event({ error: { message: "boom" } }) + chunk({ content: "more" }) + stop,
  "a call that Gemini signed":
    tool({
      index: 0,
      id: "call_1",
      function: { name: "clock", arguments: "{}" },
      extra_content: { google: { thought_signature: "c2ln" } },
    }) + stopForTools,
  "a call whose name comes late":
    tool({ index: 0, id: "call_1", function: { arguments: '{"a"' } }) +
    tool({ index: 0, function: { name: "clock", arguments: ":1}" } }) +
    stopForTools,
  "a call that never has a name": tool({ index: 0, id: "call_1", function: { arguments: "{}" } }) + stopForTools,
  "no choice but usage": event({ id: "c1", choices: [] }) + chunk({ content: "Hi" }) + stop,
  "a choice without a delta":
    event({ choices: [{ finish_reason: null }] }) + event({ choices: [{ delta: null, finish_reason: "stop" }] }),
  "an unnamed first chunk": event({ id: "", model: "", created: 0, choices: [] }) + chunk({ content: "Hi" }) + stop,
  "more than one choice": event({ choices: [{ delta: { content: "a" } }, { delta: { content: "b" } }] }) + stop,
};

/** What only Mistral sends. */
const mistralShapes: Record<string, string> = {
  "thoughts as parts":
    chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm" }], closed: false }] }) +
    chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: ", so" }], closed: true }] }) +
    chunk({
      content: [
        { type: "text", text: "4" },
        { type: "reference", reference_ids: [1] },
        { type: "text", text: "." },
      ],
    }) +
    chunk({ content: " Yes." }) +
    stop,
  "a reply that is too long": chunk({ content: "Hi" }, "model_length", { usage }),
  "a reply that failed": chunk({ content: "Hi" }, "error"),
};

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

/** Where the reader of Mistral's streams is the one of all others, and so differs from Mistral's package. */
const apart: Record<string, string> = {
  "no reason": "an error part says so, which the package leaves to the finish",
  nothing: "the same",
  "[DONE] alone": "the same",
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

test("what is cut anywhere is read as if it came whole", async () => {
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

test("byte by byte too", async () => {
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

test("odd chunks are read as the package reads them", async () => {
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

  test("an error that is null is none, and one that is a mere text is one", async () => {
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
