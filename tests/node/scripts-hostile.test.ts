import { expect, test } from "vitest";
import { errorOf, openSandbox, resultOf } from "./script.ts";

/** Enough time on any machine: none of these waits for the time limit. */
const run = openSandbox({ timeoutMs: 30_000 });

/** For scripts without an end, so that the tests need not wait long for each. */
const timeoutMs = 400;
const runBriefly = openSandbox({ timeoutMs });

const late = `The script did not finish within ${timeoutMs / 1000} seconds`;
const memory = "The script needs more than the 64 MB of memory that it may use";

test.each([
  ["an endless loop", "while (true);"],
  ["a loop in an async function", "export default async () => { await null; for (;;); }"],
  ["one that catches everything", "for (;;) { try { for (;;); } catch {} finally { continue; } }"],
  ["a regular expression that backtracks", "/(a+)+$/.test('a'.repeat(40) + 'b')"],
  ["promises without end", "const again = () => Promise.resolve().then(again); await again()"],
  [
    "a promise bomb",
    "const bomb = () => { for (let i = 0; i < 50; i += 1) queue(); }; const queue = () => Promise.resolve().then(bomb); bomb(); await new Promise(() => {})",
  ],
  ["imports without end", "for (let n = 0; ; n += 1) try { await import('x' + n) } catch {}"],
  ["a getter of the result", "export default { get a() { for (;;); } }"],
  ["a proxy as the result", "export default new Proxy({}, { ownKeys() { for (;;); } })"],
  ["toJSON of the result", "export default { toJSON() { for (;;); } }"],
  ["a result that is thenable for ever", "const t = { then(f) { f(t) } }; export default t"],
  ["an error that is read for ever", "throw Object.defineProperty(new Error(), 'message', { get() { for (;;); } })"],
  ["a log that is shown for ever", "console.log({ toJSON() { for (;;); } })"],
  ["eval", "eval('for (;;);')"],
])("%s is stopped in its time", async (_what, content) => {
  const started = performance.now();
  const error = await errorOf(runBriefly(content));
  // Scripts that use memory may reach that limit first.
  expect([late, memory]).toContain(
    error.replace(/ \(main\.js:1\)$|, or calls itself too deeply$|, or threw null$/, ""),
  );
  expect(performance.now() - started).toBeLessThan(timeoutMs + 20_000);
});

test("null may be thrown by the script, or by an interpreter whose memory holds no error any more", async () => {
  expect(await errorOf(run("throw null"))).toBe(`${memory}, or threw null`);
});

test.each([
  ["a string", "'a'.repeat(2 ** 26)"],
  ["a doubled string", "let s = 'é'; for (;;) s = [s, s].join()"],
  ["bytes", "new Uint8Array(2 ** 26)"],
  ["an array of millions", "new Array(2e7).fill(1)"],
  ["an array buffer", "new ArrayBuffer(2 ** 31 - 1)"],
  ["a generator spread out", "function* g() { for (;;) yield 'x'.repeat(1e5) + Math.random() } [...g()]"],
])("%s beyond 64 MB fails, and only its script", async (_what, content) => {
  expect(await errorOf(run(content))).toContain(memory);
  expect(await resultOf(run("export default [1].concat(2)"))).toEqual([1, 2]);
});

test("a script may use most of the 64 MB, and the next one has all of it again", async () => {
  for (let i = 0; i < 3; i += 1) {
    expect(await resultOf(run("export default new Uint8Array(55e6).fill(1).length"))).toBe(55_000_000);
  }
});

test.each([
  ["a function", "function f() { f() } f()"],
  ["a default export", "export default function f() { return f() }"],
  ["a proxy", "const p = new Proxy({}, { get: (_t, _k, self) => self.x }); p.x"],
  ["a parser", `JSON.parse("[".repeat(1e6))`],
  ["syntax", "(".repeat(100_000)],
  ["toString", "const o = { toString() { return '' + o } }; '' + o"],
  ["eval", "const f = () => eval('f()'); f()"],
  ["callbacks", "const f = () => [2, 1].sort(f); f()"],
])("recursion of %s that goes too deep fails, and only its script", async (_what, content) => {
  expect(await errorOf(run(content))).toMatch(/stack overflow/);
  expect(await resultOf(run("export default 1"))).toBe(1);
});

test("a script may catch its own overflow and go on", async () => {
  const content =
    "let n = 0; const f = () => { n += 1; f() }; try { f() } catch (error) { n = error.message } export default n";
  expect(await resultOf(run(content))).toBe("stack overflow");
});

test("nothing that a script changes is there in the next run", async () => {
  const change = `
    Object.prototype.evil = 1; Array.prototype.map = null; globalThis.left = 2; JSON.parse = JSON.stringify = () => "3";
    Promise.prototype.then = null; Symbol.iterator.x = 4; Function.prototype.call = null; console.log = null;
    Object.freeze(Object.prototype); delete globalThis.args; export default [1]`;
  expect(await resultOf(run(change.replace("Symbol.iterator.x = 4;", "")))).toEqual([1]);
  const look =
    "export default [({}).evil, typeof [].map, typeof left, JSON.parse('5'), typeof args, typeof console.log]";
  for (let i = 0; i < 2; i += 1) {
    expect(await resultOf(run(look))).toEqual([null, "function", "undefined", 5, "object", "function"]);
  }
  expect(({} as Record<string, unknown>).evil).toBeUndefined();
});

test("__proto__ is a name like any other, in arguments and results", async () => {
  const args = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
  const result = await resultOf(
    run("export default (args) => ({ back: args, polluted: ({}).polluted ?? args.polluted })", {
      args,
    }),
  );
  expect(JSON.stringify(result)).toBe(JSON.stringify({ back: args }));
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test("a script that breaks its language's built-ins harms only itself", async () => {
  const broken = `
    JSON.stringify = () => { throw 1 }; String.prototype.slice = null; Array.prototype[Symbol.iterator] = null;
    Promise.prototype.then = () => {}; Reflect.apply = null; globalThis.Error = null;
    console.log("still", "heard"); export default { a: [1, 2] }`;
  expect(await run(broken)).toEqual({ ok: true, result: { a: [1, 2] }, logs: ["still heard"] });
  expect(await resultOf(run("Object.prototype.toJSON = () => 7; export default { a: 1 }"))).toBe(7);
});

test("constructors, eval and error stacks lead to nothing outside", async () => {
  const reach = `
    const root = Function("return this")();
    const viaLog = console.log.constructor("return this")();
    const deep = eval("this") ?? root;
    export default {
      same: root === globalThis && viaLog === globalThis && deep === globalThis,
      names: Object.getOwnPropertyNames(root).filter((name) => /process|require|host|module|quickjs|fetch|worker/i.test(name)),
      stack: String(new Error("x").stack).includes("/"),
      meta: import.meta.url ?? null,
    }`;
  expect(await resultOf(run(reach))).toEqual({ same: true, names: [], stack: false, meta: null });
});

test("the event loop stays free while scripts rage", async () => {
  let ticks = 0;
  const ticking = setInterval(() => {
    ticks += 1;
  }, 5);
  await Promise.all([runBriefly("for (;;);"), runBriefly("for (;;) 'x'.repeat(1e6)"), runBriefly("for (;;);")]);
  clearInterval(ticking);
  // Running on this thread would leave a tick or two between two scripts.
  expect(ticks).toBeGreaterThan(20);
});

test("memory that scripts took is given back", async () => {
  const fat = () => run("new Uint8Array(50e6).fill(1); console.log('x'.repeat(60000)); export default 'y'.repeat(1e6)");
  await Promise.all([fat(), fat()]);
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 10; i += 1) await Promise.all([fat(), fat()]);
  // All of it would be a gigabyte; two runs may be under way in two threads.
  expect(process.memoryUsage().rss - before).toBeLessThan(400e6);
});
