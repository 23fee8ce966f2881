import { expect, test } from "vitest";
import type { WholeTurn } from "../../src/client/index.ts";
import { answeredBy, fallbackLines } from "../../src/panel/transcript/called-models.ts";

type Step = NonNullable<WholeTurn["debug"]>["steps"][number];

const step = (fields: Partial<Step> = {}): Step => ({
  index: 0,
  stepType: "initial",
  startedMs: 0,
  firstOutputMs: 1,
  durationMs: 2,
  promptTokens: 1,
  completionTokens: 1,
  finishReason: "stop",
  retries: [],
  ...fields,
});

const failure = { code: "provider-failed", message: "Model provider error", hint: null, said: null };
const primary = { connection: "Primary", provider: "openai", model: "gpt" };

test("a step says which connection answered, where one did", () => {
  expect(answeredBy(step())).toBe(null);
  expect(answeredBy(step({ connection: null, provider: "openai", model: "gpt" }))).toBe(null);
  expect(answeredBy(step(primary))).toBe("Primary (gpt)");
});

test("a step names the models that did not answer, and why", () => {
  expect(fallbackLines(step())).toEqual([]);
  const fallbacks = [
    { ...primary, failure },
    { ...primary, failure: { ...failure, hint: "The provider refused the key (status 401)" } },
    { ...primary, connection: null, failure: null },
  ];
  expect(fallbackLines(step({ fallbacks }))).toEqual([
    "Primary (gpt) did not answer: Model provider error",
    "Primary (gpt) did not answer: The provider refused the key (status 401)",
    "openai:gpt rests after failures",
  ]);
});
