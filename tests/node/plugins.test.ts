import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { loadPlugins } from "../../src/adapters/node/plugins.ts";
import type { Plugin } from "../../src/core/plugins/plugin.ts";
import { TestClock } from "../clock.ts";

const source = (namespace: string) => `{
  namespace: ${JSON.stringify(namespace)}, title: "A title", hosts: [], secrets: [],
  tools: [{
    name: "ask", description: "Asks.", parameters: { type: "object" }, effect: "none", needsApproval: false,
    execute: async () => ({ from: ${JSON.stringify(namespace)} }),
  }],
}`;

/** A working directory with these files. */
function directoryWith(files: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), "plugins-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

const load = (directory: string, specifiers: string[], present: Plugin[] = []) =>
  loadPlugins(specifiers, present, { clock: systemClock, directory });

test("paths and packages of the directory are loaded, in order, whatever their format", async () => {
  const directory = directoryWith({
    "one.mjs": `export default ${source("one")};`,
    "sub/two.cjs": `module.exports = ${source("two")};`,
    "compiled.cjs": `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = ${source("three")};`,
    "typed.ts": `import { join } from "node:path";\nconst given: object = ${source("four")};\nvoid join;\nexport default given;`,
    // Only `import` finds this package: it exports nothing for `require`.
    "node_modules/@acme/five/package.json": '{ "name": "@acme/five", "exports": { "import": "./main.mjs" } }',
    "node_modules/@acme/five/main.mjs": `export default ${source("five")};`,
  });
  const specifiers = ["./one.mjs", "./sub/two.cjs", join(directory, "compiled.cjs"), "./typed.ts", "@acme/five"];
  const { loaded, problems } = await load(directory, specifiers);
  expect(problems).toEqual([]);
  expect(loaded.map(({ specifier, plugin }) => [specifier, plugin.namespace])).toEqual(
    specifiers.map((specifier, index) => [specifier, ["one", "two", "three", "four", "five"][index]]),
  );
});

test("each one that can't be used is reported with its reason, and the others are loaded", async () => {
  const directory = directoryWith({
    "good.mjs": `export default ${source("good")};`,
    "again.mjs": `export default ${source("good")};`,
    "shipped.mjs": `export default ${source("github")};`,
    "throws.mjs": 'throw new Error("no licence key\\nat length");',
    "odd.mjs": "throw null;",
    "broken.mjs": "export default {",
    "empty.mjs": "export const plugin = 1;",
    "malformed.mjs": `export default { ...${source("malformed")}, hosts: "example.com", colour: 1 };`,
    "sly.mjs": `export default { ...${source("sly")}, get title() { throw new Error("got") } };`,
  });
  const names = ["throws", "odd", "broken", "empty", "malformed", "sly", "missing", "good", "again", "shipped"];
  const github: Plugin = { namespace: "github", title: "GitHub", hosts: [], secrets: [], tools: [] };
  const { loaded, problems } = await load(
    directory,
    [...names.map((name) => `./${name}.mjs`), "no-package", "good.mjs"],
    [github],
  );
  expect(loaded.map(({ specifier }) => specifier)).toEqual(["./good.mjs"]);
  expect(Object.fromEntries(problems.map(({ specifier, message }) => [specifier, message]))).toEqual({
    "./throws.mjs": "no licence key",
    "./odd.mjs": "it threw something that is no error",
    "./broken.mjs": expect.any(String),
    "./empty.mjs": "it has no default export",
    "./malformed.mjs": "hosts must be a list; The default export must not have the fields: colour",
    "./sly.mjs": "got",
    "./missing.mjs": expect.stringContaining("Cannot find module"),
    "./again.mjs": "the namespace good is taken by ./good.mjs",
    "./shipped.mjs": "the namespace github is taken by a plugin that comes with the engine",
    "no-package": "there is no package of this name here: install it where the server runs",
    "good.mjs": "there is no package of this name here: write ./good.mjs for the file here",
  });
});

test("a plugin whose loading never ends is left out", async () => {
  const directory = directoryWith({ "hangs.mjs": `await new Promise(() => {}); export default ${source("hangs")};` });
  const clock = new TestClock();
  const loading = loadPlugins(["./hangs.mjs"], [], { clock, directory });
  await clock.advance(10_000);
  expect((await loading).problems).toEqual([
    { specifier: "./hangs.mjs", message: "it did not load within 10 seconds" },
  ]);
});
