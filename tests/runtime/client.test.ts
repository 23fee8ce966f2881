import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { dataDirectory } from "./program.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The folder of a user who has the package installed. */
function project(files: Record<string, string>): string {
  const folder = dataDirectory();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/agent-engine"), "junction");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const node = (folder: string, ...args: string[]) =>
  spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });

test("agent-engine/client loads without anything else", () => {
  const folder = project({
    "use.js": 'import * as client from "agent-engine/client"; console.log(Object.keys(client).join());',
  });
  const { stdout, stderr } = node(folder, "use.js");
  expect(stderr).toBe("");
  expect(stdout).toBe("AgentEngineError,StreamCutError,createAgentEngine,createChat,messageIdOf\n");
});

const program = `
import { AgentEngineError, type ChatEvent, createAgentEngine } from "agent-engine/client";

declare const environment: Record<string, string | undefined>;
const engine = createAgentEngine({ baseUrl: "http://localhost:4000", token: environment.AGENT_API_KEY });
const body = { messages: [{ role: "user", content: "Hi" }] };
for await (const { event, data } of engine.streamChat({ slug: "a", body }, { signal: AbortSignal.timeout(5) })) {
  if (event === "text-delta") data.text satisfies string;
  if (event === "done") data.messageId satisfies string | null;
}
try {
  (await engine.getAgent({ slug: "a" })).instance.slug satisfies string;
} catch (error) {
  if (error instanceof AgentEngineError) error.issues satisfies { path: string }[];
}
export type Event = ChatEvent["event"];
// @ts-expect-error A name that the operation does not have.
await engine.getAgent({ slugg: "a" });
// @ts-expect-error Its answer would not be JSON.
await engine.createChatCompletion({ body: { model: "a", ...body, stream: true } });
`;

const guide = readFileSync(join(root, "docs/client.md"), "utf8");
const [documented = ""] = /import \{ createChat[^`]*/.exec(guide) ?? [];

/** The documented chat, with the code its reader has around it. */
const survives = `
declare const process: { env: Record<string, string | undefined>; stdout: { write(text: string): void } };
declare const body: { messages: { role: "user"; content: string }[]; chat_id: string };
declare const enough: boolean;
${documented}`;

test.each([
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
])("its types hold under module %s", (module, moduleResolution) => {
  const compilerOptions = {
    module,
    moduleResolution,
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: false,
    types: [],
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable"],
  };
  const folder = project({
    "use.ts": program,
    "survives.ts": survives,
    "tsconfig.json": JSON.stringify({ compilerOptions, files: ["use.ts", "survives.ts"] }),
  });
  const { status, stdout } = node(folder, join(root, "node_modules/typescript/bin/tsc"));
  expect(documented).toContain("chat.stop(messageIdOf(event))");
  expect(stdout).toBe("");
  expect(status).toBe(0);
});
