import { expect, test } from "vitest";
import { errorOf, openSandbox, resultOf } from "./script.ts";

const run = openSandbox();

test.each([
  ["a function of the arguments", "export default ({ n }) => n + 1", 3],
  ["an async function", "export default async ({ n }) => { await null; return { n } }", { n: 2 }],
  ["a value", "export default [1, 'two', null, true, 1.5]", [1, "two", null, true, 1.5]],
  ["the global args, also after top-level await", "await null; export default args.n * 2", 4],
  ["a promise", "export default Promise.resolve('later')", "later"],
  ["undefined as null", "export default () => {}", null],
  ["nothing without a default export", "export const n = 1", null],
  [
    "what a value turns itself into",
    "export default { at: new Date(0), left: undefined }",
    { at: "1970-01-01T00:00:00.000Z" },
  ],
  ["a named default function", "export default function total(args) { return Object.keys(args) }", ["n"]],
])("gives back %s", async (_what, content, result) => {
  expect(await run(content, { args: { n: 2 } })).toEqual({ ok: true, result, logs: [] });
});

test("texts are passed in and out unchanged, with NUL, quotes and half surrogates", async () => {
  const text = "a\u0000b \"'` </script> \u2028 \ud800 🙂";
  expect(await resultOf(run("export default (args) => [args, args.length]", { args: text }))).toEqual([
    text,
    text.length,
  ]);
  expect(await resultOf(run('export default "🙂\\0".length'))).toBe(3);
});

test("scripts have the time and random numbers, and nothing of a host", async () => {
  const [now, chance] = (await resultOf(run("export default [Date.now(), Math.random()]"))) as [number, number];
  expect(Math.abs(now - Date.now())).toBeLessThan(10_000);
  expect(chance).toSatisfy((n: number) => n >= 0 && n < 1);
  const names = [
    "setTimeout",
    "setInterval",
    "fetch",
    "process",
    "require",
    "Buffer",
    "WebAssembly",
    "std",
    "os",
    "log",
  ];
  const typeOf = `export default ${JSON.stringify(names)}.filter((name) => typeof globalThis[name] !== "undefined")`;
  expect(await resultOf(run(typeOf))).toEqual([]);
  expect(await errorOf(run("\nfetch('http://x')"))).toBe("ReferenceError: 'fetch' is not defined (main.js:2)");
});

test("console output is kept, with or without a result", async () => {
  const lines = `
    console.log("a", 1, { b: [2] }, null, undefined, 5n);
    console.info(); console.warn("two\\nlines \\0 \\ud800"); console.error(new TypeError("no"));
    const round = {}; round.self = round; console.debug(round, Symbol("s"), { toJSON() { throw 1 } });`;
  const logs = [
    'a 1 {"b":[2]} null undefined 5',
    "",
    "two\nlines \u0000 \ufffd",
    "TypeError: no",
    "[cannot be shown] Symbol(s) [cannot be shown]",
  ];
  expect(await run(lines)).toEqual({ ok: true, result: null, logs });
  expect(await run(`${lines} throw new Error("after")`)).toEqual({
    ok: false,
    error: "Error: after (main.js:4)",
    logs,
  });
});

test("a log is cut at 1,000 lines and at 64 KiB", async () => {
  const cut = "[cut: of a log, the first 64 KiB and 1,000 lines are kept]";
  const many = await run("for (let i = 0; i < 3000; i += 1) console.log(i); export default 1");
  expect(many).toMatchObject({ ok: true, result: 1 });
  expect([many.logs.length, many.logs[999], many.logs[1000]]).toEqual([1001, "999", cut]);
  const long = await run("console.log('é'.repeat(1e6)); console.log('more')");
  expect(long.logs).toEqual(["é".repeat(32 * 1024), cut]);
});

test.each([
  ["throw new Error('boom')", "Error: boom (main.js:1)"],
  ["export default () => {\n  null.x\n}", "TypeError: cannot read property 'x' of null (main.js:2)"],
  ["\n\nlet a = ;", "SyntaxError: unexpected token in expression: ';' (main.js:3)"],
  ["class Odd extends Error { name = 'Odd' } throw new Odd('bad')", "Odd: bad (main.js:1)"],
  ["export default Promise.reject(new RangeError('late'))", "RangeError: late (main.js:1)"],
  ["throw 'text'", "The script threw: text"],
  ["throw { code: 1 }", 'The script threw: {"code":1}'],
  ["throw undefined", "The script threw: undefined"],
  ["throw new Proxy({}, { getPrototypeOf() { throw 1 } })", "The script threw: [cannot be shown]"],
  ["export default new Promise(() => {})", "The script never finished: it waits for a promise that nothing can settle"],
  ["await new Promise(() => {})", "The script never finished: it waits for a promise that nothing can settle"],
  ["export default () => () => 1", "The result cannot be turned into JSON: it is a function"],
  ["export default { a: [{ b() {} }] }", 'The result cannot be turned into JSON: "b" is a function'],
  ["export default { n: 1n }", 'The result cannot be turned into JSON: "n" is a bigint'],
  ["const a = []; a.push(a); export default a", "The result cannot be turned into JSON: TypeError: circular reference"],
  ["export default { toJSON() { throw new Error('no') } }", "The result cannot be turned into JSON: Error: no"],
  ["export default 'x'.repeat(2 ** 20)", "The result is larger than 1 MiB"],
  ["export default 'é'.repeat(2 ** 19)", "The result is larger than 1 MiB"],
  [
    "let a = []; for (let i = 0; i < 200; i += 1) a = [a]; export default a",
    "The result is nested in more than 200 levels",
  ],
])("%s fails clearly", async (content, error) => {
  expect(await run(content)).toEqual({ ok: false, error, logs: [] });
});

test("a result may be 1 MiB long and 200 levels deep", async () => {
  expect(await resultOf(run("export default 'x'.repeat(2 ** 20 - 2)"))).toHaveLength(2 ** 20 - 2);
  await expect(
    resultOf(run("let a = 1; for (let i = 0; i < 200; i += 1) a = [a]; export default a")),
  ).resolves.toBeDefined();
});

test("scripts import those of their skill, relative to themselves, and nothing else", async () => {
  const modules = {
    "lib/sum.js": 'import { one } from "../one.js"; export const sum = (n) => n + one;',
    "one.js": "export const one = 1;",
    "bad.js": "export const f = () => {\n  null.x;\n};",
    "main.js": "export default 'an older text of what is run'",
  };
  expect(await resultOf(run('import { sum } from "./lib/sum.js"; export default sum(2)', { modules }))).toBe(3);
  expect(await resultOf(run('export default (await import("./one.js")).one', { modules }))).toBe(1);
  expect(
    await resultOf(
      run('import * as self from "./main.js"; export const n = 5; export default () => self.n', { modules }),
    ),
  ).toBe(5);
  expect(await errorOf(run('import { f } from "./bad.js"; f()', { modules }))).toBe(
    "TypeError: cannot read property 'x' of null (bad.js:2)",
  );
  const only = 'a script reaches only others of its skill, as "./name.js"';
  for (const name of ["fs", "node:fs", "one.js", "/one.js", "https://example.com/x.js", "script:entry x"]) {
    expect(await errorOf(run(`import "${name}"`, { modules }))).toBe(
      `TypeError: main.js cannot import "${name}": ${only}`,
    );
  }
  for (const name of ["./two.js", "../one.js", "./__proto__", "./lib"]) {
    expect(await errorOf(run(`import "${name}"`, { modules }))).toBe(
      `TypeError: main.js cannot import "${name}": the skill has no such script`,
    );
  }
  expect(await errorOf(run("await import('fs')", { modules }))).toContain('cannot import "fs"');
});

test("an argument too large is refused", async () => {
  const large = " ".repeat(8 * 1024 * 1024);
  const error = "The skill's scripts and the arguments are larger than 8 MiB together";
  expect(await errorOf(run(large))).toBe(error);
  expect(await errorOf(run("1", { args: [large] }))).toBe(error);
  expect(await errorOf(run("1", { modules: { "large.js": large } }))).toBe(error);
  expect(await resultOf(run("export default (args) => args.length", { args: large.slice(0, 4_000_000) }))).toBe(
    4_000_000,
  );
});
