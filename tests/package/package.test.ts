import { spawnSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, dataDirectory } from "../runtime/program.ts";
import { skipHere } from "../skip.ts";
import { type Packed, pack, readManifest, root, runIn, startIn } from "./npm.ts";

const megabyte = 1_000_000;
const { version } = readManifest(root);

let packed: Packed;
beforeAll(() => {
  packed = pack();
});
afterAll(() => packed?.remove());

const greet = `import { definePlugin, type JsonObject, type Plugin, type PluginContext, type SavedFile } from "agent-engine/plugin";

const bytes = new TextEncoder().encode("Hello");
const save = ({ saveFile }: PluginContext): Promise<SavedFile> => saveFile({ name: "a", mime: "text/plain", bytes });
const parameters: JsonObject = { type: "object", properties: { name: { type: "string" } } };

const plugin: Plugin = definePlugin({
  namespace: "greet",
  title: "Greetings",
  hosts: [],
  secrets: [],
  tools: [
    { name: "hello", description: "Greets.", parameters, effect: "none", needsApproval: false, execute: async ({ name }) => \`Hello \${name}\` },
    { name: "card", description: "Makes a card.", parameters, effect: "external", needsApproval: true, execute: async (_, context) => (await save(context)).url },
  ],
});
export default plugin;

// @ts-expect-error a tool says whether a call of it can be repeated
definePlugin({ ...plugin, tools: [{ name: "a", description: "b", parameters, needsApproval: false, execute: async () => null }] });
`;

/** The address and the key that a quickstart shows. */
async function shownBy(server: ReturnType<typeof startIn>): Promise<{ url: string; key: string }> {
  await server.printed(/Ctrl\+C/);
  const shown = (label: string) => server.stdout().match(new RegExp(`^ +${label} +(\\S+)`, "m"))?.[1] ?? "";
  return { url: shown("Address"), key: shown("Key") };
}

test("the tarball has the files to run, and no development files", () => {
  const allowed = [
    /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|bin\/agent-engine\.js)$/,
    /^dist\/(cli\.js|(embedded|password|scripts)-worker\.js|scripts\.wasm|template\.tar\.gz|THIRD-PARTY-LICENSES)$/,
    // The parts of the program that are loaded when they are needed.
    /^dist\/[\w-]+-[A-Z0-9]{8}\.js$/,
    /^dist\/(docs\/[^/]+|client\/.+(\.js|\.d\.ts)|plugin\/(index\.js|(plugins\/plugin|json)\.d\.ts))$/,
    /^dist\/panel\/(index\.html|[a-z]+-[A-Z0-9]{8}\.(js|css)(\.br)?)$/,
    /^dist\/fonts\/[a-z-]+\.ttf$/,
    /^docs\/(channels\/)?[^/]+\.md$/,
    /^docs\/grafana-dashboard\.json$/,
    /^schema\/(agent|skill)\.schema\.json$/,
    /^drizzle\/(\d+_\w+\.sql|meta\/_journal\.json)$/,
  ];
  expect(packed.files.filter((file) => !allowed.some((pattern) => pattern.test(file)))).toEqual([]);
  expect(packed.files).toEqual(
    expect.arrayContaining([
      ...["bin/agent-engine.js", "dist/cli.js", "drizzle/meta/_journal.json"],
      ...["schema/agent.schema.json", "schema/skill.schema.json"],
    ]),
  );
});

/** The parts of the program in `dist/`, by name. */
function readParts(): Map<string, string> {
  const dist = join(root, "dist");
  const names = readdirSync(dist).filter((name) => name.endsWith(".js"));
  return new Map(names.map((name) => [name, readFileSync(join(dist, name), "utf8")]));
}

test("the PDF library is loaded by the first call only", () => {
  const parts = readParts();
  const [maker, ...more] = [...parts.keys()].filter((name) => parts.get(name)?.includes("// node_modules/pdfkit/"));
  expect(more).toEqual([]);
  const mentions = [...parts.values()].flatMap((text) => text.match(new RegExp(`.{10}${maker}`, "g")) ?? []);
  expect(mentions).toEqual([expect.stringContaining('import("./')]);
});

test("a start loads no library that most servers have no use for", () => {
  const libraries = librariesOf("src/main.ts");
  expect(libraries).toEqual(expect.arrayContaining(["hono", "drizzle-orm", "zod"]));
  const needless = /^(marked|fflate|yaml|prom-client|@ai-sdk\/(?!provider$)|@modelcontextprotocol|pdf)/;
  expect(libraries.filter((library) => needless.test(library))).toEqual([]);
});

test("a short command loads no engine", () => {
  expect(librariesOf("src/cli/run.ts")).not.toContain("drizzle-orm");
});

/** The libraries in the part that has this file, and in the parts that it loads at once. */
function librariesOf(file: string): string[] {
  const parts = readParts();
  const loaded = new Set([...parts.keys()].filter((name) => parts.get(name)?.includes(`\n// ${file}\n`)));
  expect(loaded.size).toBe(1);
  for (const name of loaded) {
    for (const [, other = ""] of parts.get(name)?.matchAll(/^(?:import|.*\bfrom) "\.\/([^"]+)";$/gm) ?? [])
      loaded.add(other);
  }
  const headings = [...loaded].flatMap(
    (name) => parts.get(name)?.match(/^\/\/ node_modules\/(@[^/]+\/)?[^/]+/gm) ?? [],
  );
  return [...new Set(headings.map((heading) => heading.slice("// node_modules/".length)))];
}

test("no script runs at install, and one library is installed with it", () => {
  const { scripts, dependencies, optionalDependencies, peerDependencies } = readManifest(root);
  const hooks = ["preinstall", "install", "postinstall", "prepare"];
  expect(Object.keys(scripts as object).filter((name) => hooks.includes(name))).toEqual([]);
  expect(Object.keys(dependencies as object)).toEqual(["@electric-sql/pglite"]);
  expect([optionalDependencies, peerDependencies]).toEqual([undefined, undefined]);
});

test("npx runs it in an empty folder: version, quickstart, a first reply, and SIGTERM", async () => {
  const folder = dataDirectory();
  const npx = (...args: string[]) => ["exec", "--yes", `--package=${packed.file}`, "--", "agent-engine", ...args];
  expect(runIn(folder, "npm", ...npx("--version"))).toBe(`${version}\n`);

  const server = startIn(folder, "npm", npx("quickstart"));
  const { url, key } = await shownBy(server);
  const reply = await chat({ url, key, text: "Hello" });
  expect(await reply.json()).toMatchObject({ choices: [{ message: { content: expect.stringContaining("Hello") } }] });
  expect(readdirSync(folder)).toEqual([".agent-engine"]);

  // Only to npm, as a supervisor does.
  server.child.kill("SIGTERM");
  await server.ended;
  expect(server.stderr()).toContain('"Stopped"');
  await expect(fetch(`${url}/health`)).rejects.toThrow("fetch failed");
});

describe("installed", () => {
  let folder: string;
  let module: string;
  beforeAll(() => {
    folder = join(packed.file, "..", "installed");
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    runIn(folder, "npm", "install", "--silent", packed.file);
    module = join(folder, "node_modules", "agent-engine");
  });

  test("it takes at most 60 MB", () => {
    expect(sizeOf(join(folder, "node_modules"))).toBeLessThan(60 * megabyte);
  });

  test("it names every library that it contains, with its licence", () => {
    const licenses = readFileSync(join(module, "dist", "THIRD-PARTY-LICENSES"), "utf8");
    const parts = readdirSync(join(module, "dist")).filter((name) => name.endsWith(".js"));
    const bundle = parts.map((name) => readFileSync(join(module, "dist", name), "utf8")).join("\n");
    const contained = [...bundle.matchAll(/^\/\/ node_modules\/(?:.*node_modules\/)?((?:@[^/\s]+\/)?[^/\s]+)\//gm)];
    const names = new Set(contained.map(([, name]) => name));
    expect(names.size).toBeGreaterThan(20);
    const lines = licenses.split("\n");
    for (const name of names)
      expect(
        lines.filter((line) => line.startsWith(`${name} `)),
        name,
      ).not.toEqual([]);
  });

  test("the program takes SIGTERM itself and keeps its data", async () => {
    const program = join(folder, "node_modules", ".bin", "agent-engine");
    const environment = { DATA_DIR: join(folder, "data") };
    const first = startIn(folder, program, ["quickstart"], environment);
    const { url, key } = await shownBy(first);
    expect((await chat({ url, key, text: "Hello", chatId: "c1" })).status).toBe(200);
    first.child.kill("SIGTERM");
    expect(await first.ended).toBe(0);

    const second = startIn(folder, program, ["serve"], environment);
    const [, address = ""] = await second.printed(/"address":"(http:[^"]+)"/);
    expect((await chat({ url: address, key, text: "Again", chatId: "c1" })).status).toBe(200);
  });

  test("the client can be imported, with types for TypeScript's strictest reading", () => {
    const script = 'import { createAgentEngine } from "agent-engine/client"; console.log(typeof createAgentEngine);';
    expect(runIn(folder, process.execPath, "--input-type=module", "--eval", script)).toBe("function\n");
    writeFileSync(
      join(folder, "use.ts"),
      'import { createAgentEngine } from "agent-engine/client";\nexport const client = createAgentEngine({ baseUrl: "http://localhost:4000" });\n',
    );
    compile("use.ts");
  });

  test("a plugin of somebody else can be written against the types, and runs", () => {
    writeFileSync(join(folder, "greet.ts"), greet);
    compile("greet.ts");
    const script = 'import plugin from "./greet.ts"; console.log(await plugin.tools[0].execute({ name: "Ada" }, {}));';
    expect(runIn(folder, process.execPath, "--no-warnings", "--input-type=module", "--eval", script)).toBe(
      "Hello Ada\n",
    );
  });

  /** Compiles a file of the folder as strictly as TypeScript can. */
  function compile(name: string): void {
    const strictest = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"];
    const options = ["--noEmit", ...strictest, "--module", "nodenext", "--target", "es2023", "--lib", "es2023,dom"];
    runIn(folder, process.execPath, join(root, "node_modules/typescript/bin/tsc"), ...options, name);
  }
});

describe("an older Node", () => {
  const program = join(root, "bin", "agent-engine.js");
  const refusal = (node: string) => `agent-engine: Node 22.13 or newer is needed; this is Node ${node}\n`;

  test.each(["18.20.8", "20.20.2", "22.12.0"])("%s: one line and exit code 1", (node) => {
    const pretend = `data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"${node}"}})`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", pretend, program], {
      encoding: "utf8",
    });
    expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: "", stderr: refusal(node) });
  });

  const older = olderNode();
  test("a real one", (context) => {
    if (!older) return skipHere(context, "no Node older than 22.13 on this machine");
    const { status, stdout, stderr } = spawnSync(older.path, [program, "--version"], { encoding: "utf8" });
    expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: "", stderr: refusal(older.version) });
  });
});

/** A Node on this machine's PATH that is too old for us. */
function olderNode(): { path: string; version: string } | undefined {
  for (const place of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(place, "node");
    const version = spawnSync(path, ["--version"], { encoding: "utf8" }).stdout?.trim().slice(1) ?? "";
    if (/^(1\d|20)\./.test(version)) return { path, version };
  }
  return undefined;
}

/** Bytes of all files, as an installation counts them. */
function sizeOf(path: string): number {
  const entry = lstatSync(path);
  if (!entry.isDirectory()) return entry.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
