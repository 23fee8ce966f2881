import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { startServer } from "../browser/server.ts";
import { dataDirectory, run, serve, start } from "./program.ts";

const stackTrace = /\n\s+at |node:internal|Error:/;

test("help and version, for the program and for one command", async () => {
  const [help, verb, version, bin] = await Promise.all([
    run(["--help"]),
    run(["quickstart", "--help"]),
    run(["--version"]),
    spawnSync(process.execPath, [fileURLToPath(new URL("../../bin/agent-engine.js", import.meta.url)), "-v"]),
  ]);
  expect(help).toMatchObject({ code: 0, stderr: "" });
  for (const name of ["serve", "quickstart", "migrate", "openapi", "rotate-key"]) expect(help.stdout).toContain(name);
  expect(verb.stdout).toContain("--new-key");
  expect(version).toMatchObject({ code: 0, stdout: `${manifest.version}\n` });
  expect(bin.stdout.toString()).toBe(version.stdout);
});

test.each([
  [["serv"], 'agent-engine: Unknown command "serv"; did you mean agent-engine serve?\n'],
  [["--port=1"], "agent-engine: Unknown option '--port'; see agent-engine serve --help\n"],
  [["quickstart", "--email=me"], "agent-engine: --email must be an e-mail address\n"],
  [["quickstart", "--password=short"], "agent-engine: --password must have at least 8 characters\n"],
])("%j: one line and exit code 2", async (args, stderr) => {
  expect(await run(args)).toEqual({ code: 2, stdout: "", stderr });
});

test("wrong settings are listed all at once, without a stack trace and without their values", async () => {
  const { code, stderr } = await run([], { PORT: "none", LOG_LEVEL: "loud", ENCRYPTION_KEY: "too-short-a-key" });
  expect(code).toBe(1);
  expect(stderr.trim().split("\n")).toHaveLength(3);
  expect(stderr).toMatch(/^agent-engine: PORT must be a whole number$/m);
  expect(stderr).not.toContain("too-short-a-key");
});

test("a file .env is read, and a variable of the process wins over it", async () => {
  const DATA_DIR = dataDirectory();
  writeFileSync(join(DATA_DIR, ".env"), "PORT=none\nLOG_LEVEL=loud\n");
  const { code, stderr } = await run([], { DATA_DIR, PORT: "0" });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^agent-engine: LOG_LEVEL /);
  expect(stderr).not.toContain("PORT");
});

test("a file .env is read with the mark of an editor in front; one that can't be read ends the command", async () => {
  const DATA_DIR = dataDirectory();
  const file = join(DATA_DIR, ".env");
  writeFileSync(file, "\ufeffLOG_LEVEL=loud\n");
  expect((await run([], { DATA_DIR })).stderr).toMatch(/^agent-engine: LOG_LEVEL /);

  const refused = (reason: string) => ({ code: 1, stdout: "", stderr: `agent-engine: ${file} ${reason}\n` });
  writeFileSync(file, "\ufeffLOG_LEVEL=loud\n", "utf16le");
  expect(await run(["doctor"], { DATA_DIR })).toEqual(refused("is not UTF-8: save it as such"));
  rmSync(file);
  symlinkSync(file, file);
  const advice = "can't be read (ELOOP): let this user read it, or remove it";
  expect(await run(["rotate-key"], { DATA_DIR })).toEqual(refused(advice));
  expect(await run(["--version"], { DATA_DIR })).toMatchObject({ code: 0, stderr: "" });

  rmSync(file);
  mkdirSync(file);
  expect((await run(["rotate-key"], { DATA_DIR })).stderr).toMatch(/^agent-engine: There is no database in /);
});

test("a taken port and an unreachable database: one line each that says what to do", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void blocker.close());
  await once(blocker, "listening");
  const address = blocker.address();
  const PORT = String(typeof address === "object" && address ? address.port : 0);
  const ENCRYPTION_KEY = Buffer.alloc(32, 1).toString("base64");
  const DATABASE_URL = "postgres://user:hunter22@127.0.0.1:1/app";

  const [taken, away] = await Promise.all([
    run([], { DATA_DIR: dataDirectory(), PORT }),
    run([], { DATABASE_URL, ENCRYPTION_KEY }),
  ]);
  expect(taken).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^agent-engine: Port \d+ .* is taken; .*PORT=\d+\n$/),
  });
  expect(away.code).toBe(1);
  expect(away.stderr.trim().split("\n")).toHaveLength(1);
  expect(away.stderr).not.toMatch(/hunter22/);
  expect(taken.stderr + away.stderr).not.toMatch(stackTrace);
});

test("a first start offers the setup link; a second process on its data directory is refused", async () => {
  const DATA_DIR = dataDirectory();
  const server = await serve([], { DATA_DIR });
  const [, link = ""] = await server.printed(/(http:\S+\/setup\?token=\S+)/);
  expect((await fetch(link)).status).toBe(200);
  const health = await fetch(`${server.url}/health`);
  expect(await health.json()).toMatchObject({ status: "ok", service: "agent-engine", version: manifest.version });
  expect(server.stderr()).not.toContain(new URL(link).searchParams.get("token"));

  const second = await run([], { DATA_DIR });
  expect(second.code).toBe(1);
  expect(second.stderr.trim().split("\n")).toHaveLength(1);
  expect(second.stderr).not.toMatch(stackTrace);
});

test("the printed document is the server's, and a reader that leaves early is no error", async () => {
  const server = await startServer();
  const printed = await run(["openapi"]);
  expect(JSON.parse(printed.stdout)).toEqual(await (await fetch(`${server.url}/openapi.json`)).json());

  const cut = start(["openapi"]);
  cut.child.stdout?.destroy();
  expect(await cut.ended).toBe(0);
  expect(cut.stderr()).toBe("");
});
