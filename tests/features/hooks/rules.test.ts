import { expect, test } from "vitest";
import { argsProblem } from "../../../src/features/hooks/rules.ts";
import { processorTime } from "../../processor-time.ts";

const nested = (levels: number): unknown => (levels === 0 ? "x" : { a: nested(levels - 1) });

test.each<[string, unknown]>([
  ["nothing", {}],
  ["any JSON", { a: [1, null, true, { b: "c" }], "": "" }],
  ["the placeholders there are", { a: "{{instance.slug}}{{conversation.id}} {{ channel.type }} {{channel.id}}" }],
  ["those of what was said", ["{{user.name}}", "{{message.text}}", "{{response.text}}"]],
  ["keys of the state", ["{{state.plan}}", "{{state.a.b}}", "{{state.a b-c}}", `{{state.${"k".repeat(128)}}}`]],
  ["variables of skills", { token: "Bearer {{skill_env.shop.TOKEN}}" }],
  ["variables in blanks", "{{ skill_env.shop.TOKEN }}"],
  ["other brackets", ["{{#each x}}", "{message.txt}", "{{ }}", "{{}}", "{{{", "{{1.5}}", "a.b"]],
  ["20 levels", nested(20)],
  ["16 KiB", { a: "x".repeat(16 * 1024 - '{"a":""}'.length) }],
])("arguments may hold %s", (_what, args) => {
  expect(argsProblem(args)).toBeNull();
});

const known =
  "there are {{instance.slug}}, {{conversation.id}}, {{channel.type}}, {{channel.id}}, {{user.name}}, {{message.text}}, {{response.text}}, {{state.KEY}}";

test.each<[string, unknown, string]>([
  ["a misspelt name", { a: "Say {{message.txt}}!" }, `knows no {{message.txt}}; ${known}`],
  ["another word", { a: [{ b: "{{ payload.id }}" }] }, `knows no {{payload.id}}; ${known}`],
  ["a word without a dot", { a: "{{name}} {{ my_plan2 }}" }, `knows no {{name}}, {{my_plan2}}; ${known}`],
  ["a word in many blanks", { a: `{{ \n name${" ".repeat(9_000)}}}` }, `knows no {{name}}; ${known}`],
  ["a word with a digit", { a: "{{state2.plan}}" }, `knows no {{state2.plan}}; ${known}`],
  ["another case", { a: "{{Message.Text}}" }, `knows no {{Message.Text}}; ${known}`],
  ["several, each once", { a: "{{a.b}} {{c.d}} {{a.b}} {{user.name}}" }, `knows no {{a.b}}, {{c.d}}; ${known}`],
  ["many", { a: "{{a}} {{b}} {{c}} {{d}} {{e}}" }, `knows no {{a}}, {{b}}, {{c}} and 2 more; ${known}`],
  ["a long one", { a: `{{a.${"b".repeat(9_000)}}}` }, `knows no {{a.${"b".repeat(198)}}}; ${known}`],
  ["no key", { a: "{{state.}}" }, `knows no {{state.}}; ${known}`],
  ["a key that is too long", { a: `{{state.${"k".repeat(129)}}}` }, `knows no {{state.${"k".repeat(129)}}}; ${known}`],
  ["private state", { a: "{{ state._private }}" }, "state._private can't be read by hooks"],
  ["21 levels", nested(21), "must not be nested deeper than 20 levels"],
  ["too much", { a: "x".repeat(16 * 1024) }, "must be at most 16384 bytes as JSON"],
  ["too much in bytes", { a: "ü".repeat(8 * 1024) }, "must be at most 16384 bytes as JSON"],
  ["NUL", { a: ["x\u0000"] }, "must not contain NUL or unpaired surrogates"],
  ["half a character in a name", { "\ud800": 1 }, "must not contain NUL or unpaired surrogates"],
])("arguments may not hold %s", (_what, args, problem) => {
  expect(argsProblem(args)).toBe(problem);
});

test("a value nested without end is refused, not looked into", () => {
  let deep: unknown = "x";
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(argsProblem({ deep })).toBe("must not be nested deeper than 20 levels");
});

test.each([
  ["behind a dot", "{{a."],
  ["behind a word", "{{a"],
  ["in front of a word", "{{"],
])("a long run of blanks %s takes no time", (_where, beginning) => {
  const texts = Array.from({ length: 32 }, () => beginning + " ".repeat(16_000));
  const taken = processorTime();
  for (const text of texts) expect(argsProblem({ a: text })).toBeNull();
  expect(taken()).toBeLessThan(1_000);
});
