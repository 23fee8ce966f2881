import { once } from "node:events";
import { chmodSync, readFileSync, renameSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../browser/server.ts";
import { done, say, startFakeProvider } from "../fake-provider.ts";
import { chat, dataDirectory, quickstart, run, start } from "./program.ts";

const newKey = Buffer.alloc(32, 5).toString("base64");

/** The result of `doctor --json`: the status and message of each check by its name. */
async function doctor(environment: Record<string, string>) {
  const { code, stdout, stderr } = await run(["doctor", "--json"], environment);
  expect(stderr).toBe("");
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Record<"name" | "status" | "message", string>[] };
  expect(code).toBe(ok ? 0 : 1);
  return new Map(checks.map(({ name, status, message }) => [name, `${status}: ${message}`]));
}

/** A port without a server. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

test("doctor before the first start and along with a running server; once it stopped, a new password and a new key", async () => {
  const DATA_DIR = dataDirectory();
  const nowhere = await freePort();
  const fresh = await doctor({ DATA_DIR, PORT: nowhere });
  expect(fresh.get("database")).toBe("ok: Embedded; the first start makes it, and its encryption key");
  expect((await run(["rotate-key"], { DATA_DIR })).stderr).toMatch(/^agent-engine: There is no database in /);

  const server = await quickstart({ DATA_DIR });
  const PORT = new URL(server.url).port;
  const held = await doctor({ DATA_DIR, PORT });
  expect(held.get("database")).toBe(`ok: Embedded, held by the server at ${server.url}`);
  expect(held.get("server")).toMatch(/^ok: Version /);
  expect((await doctor({ DATA_DIR, PORT: nowhere })).get("database")).toMatch(
    /^fail: A process holds .* run this with/,
  );
  for (const verb of [["rotate-key"], ["reset-password", server.email]]) {
    const refused = await run(verb, { DATA_DIR });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^agent-engine: A running server holds the embedded database.*: stop it, .*\n$/);
  }

  server.child.kill("SIGTERM");
  await server.ended;
  const reset = JSON.parse((await run(["reset-password", server.email, "--json"], { DATA_DIR })).stdout);
  expect(reset).toEqual({ email: server.email, password: expect.stringMatching(/^.{16}$/), sessionsEnded: 0 });

  const refused = await run(["platform-admin", server.email], { DATA_DIR });
  expect(refused.stderr).toBe("agent-engine: Platform Admins need EDITION=managed with the feature administration\n");
  const granted = await run(["platform-admin", server.email], { DATA_DIR, EDITION: "managed" });
  expect(granted).toMatchObject({ code: 0, stdout: `${server.email} is now a Platform Admin.\n` });

  const ENCRYPTION_KEY_PREVIOUS = readFileSync(join(DATA_DIR, "encryption.key"), "utf8").trim();
  const both = { DATA_DIR, ENCRYPTION_KEY: newKey, ENCRYPTION_KEY_PREVIOUS };
  const rotated = JSON.parse((await run(["rotate-key", "--json"], both)).stdout);
  expect(rotated).toEqual({ resealed: expect.any(Number), alreadyCurrent: 0, total: rotated.resealed });
  expect(rotated.total).toBeGreaterThan(1);

  expect((await doctor({ DATA_DIR })).get("encryption key")).toMatch(/^fail: Not the key/);
  const restarted = await quickstart({ DATA_DIR, ENCRYPTION_KEY: newKey });
  expect((await chat({ url: restarted.url, key: server.key, text: "Hi" })).status).toBe(200);
  const signIn = await fetch(`${restarted.url}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: reset.email, password: reset.password }),
  });
  expect(signIn.status).toBe(200);
});

test("after a lost encryption key everything but the secrets opens", async () => {
  const DATA_DIR = dataDirectory();
  const server = await quickstart({ DATA_DIR });
  server.child.kill("SIGTERM");
  await server.ended;
  renameSync(join(DATA_DIR, "encryption.key"), join(DATA_DIR, "lost"));
  const advice = /if the key is lost for good, set ENCRYPTION_KEY to a new one .* agent-engine forget-secrets\n$/;
  expect((await run(["migrate"], { DATA_DIR })).stderr).toMatch(advice);

  const ENCRYPTION_KEY = newKey;
  const listed = await run(["forget-secrets"], { DATA_DIR, ENCRYPTION_KEY });
  expect(listed.code).toBe(1);
  expect(listed.stdout).toMatch(/^No configured key opens these.*\n {2}secret auth_api_key of agent assistant\n/);
  expect(listed.stderr).toMatch(/^agent-engine: Nothing was changed: .* forget-secrets --yes drops them\n$/);
  const { stdout } = await run(["forget-secrets", "--yes", "--json"], { DATA_DIR, ENCRYPTION_KEY });
  expect(JSON.parse(stdout).forgotten).toContain("secret auth_api_key of agent assistant");

  const restarted = await quickstart({ DATA_DIR, ENCRYPTION_KEY });
  expect((await chat({ url: restarted.url, key: server.key, text: "Hi" })).status).toBe(401);
  expect((await chat({ url: restarted.url, key: restarted.key, text: "Hi" })).status).toBe(200);
});

test("doctor lists wrong settings, and writes lines for people", async () => {
  const { code, stdout } = await run(["doctor"], { PORT: "none", LOG_LEVEL: "loud" });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^fail {2}settings {2}PORT must be a whole number\nfail {2}settings {2}LOG_LEVEL .*\n$/);
});

test("doctor finds files others can read, missing ones, and another server at our address", async () => {
  const DATA_DIR = dataDirectory();
  const { code } = await run(["migrate"], { DATA_DIR });
  expect(code).toBe(0);
  chmodSync(DATA_DIR, 0o755);
  renameSync(join(DATA_DIR, "encryption.key"), join(DATA_DIR, "kept"));
  const other = createServer((_request, response) => response.end("hello")).listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const PORT = String((other.address() as AddressInfo).port);

  const found = await doctor({ DATA_DIR, PORT, BASE_URL: `http://127.0.0.1:${PORT}`, MISTRAL_BASE_URL: "http://x" });
  expect(found.get("data directory")).toMatch(/^warn: Others on this machine can read .*: run chmod go= /);
  expect(found.get("encryption key")).toMatch(/^fail: .*encryption\.key is missing: restore it/);
  expect(found.get("server")).toMatch(/^fail: Something else answers at /);
  expect(found.get("public address")).toMatch(/^fail: .* something else \(status 200\)/);
  expect(found.get("providers")).toBe("warn: mistral lacks its key: set it too, or unset what is there");

  const nowhere = await freePort();
  const silent = await doctor({ DATA_DIR: dataDirectory(), PORT: nowhere, BASE_URL: `http://127.0.0.1:${nowhere}` });
  expect(silent.get("public address")).toMatch(/^warn: .* \(ECONNREFUSED\): start the server/);
});

test("doctor says why PostgreSQL can't be used, without its password", async () => {
  const DATABASE_URL = "postgres://user:hunter22@127.0.0.1:1/app";
  const OPENAI_BASE_URL = `http://127.0.0.1:${await freePort()}/v1`;
  const openai = { OPENAI_API_KEY: "sk-something-secret", OPENAI_BASE_URL };
  const found = await doctor({ DATABASE_URL, ENCRYPTION_KEY: newKey, ...openai });
  expect(found.get("database")).toMatch(/^fail: PostgreSQL at 127\.0\.0\.1:1 .*ECONNREFUSED/);
  expect(found.get("providers")).toMatch(/^ok: Configured: openai; not configured: anthropic/);
  expect(found.get("provider openai")).toMatch(/^fail: The host refused the connection: check its address/);
  expect(JSON.stringify([...found])).not.toMatch(/hunter22|sk-something/);
});

test("chat from a pipe: the reply on standard output, exit codes, Ctrl+C", async () => {
  const halfway = Promise.withResolvers<void>();
  const provider = await startFakeProvider({ stream: [say("Hel"), say("lo"), done()] });
  const server = await startServer({ OPENAI_COMPATIBLE_BASE_URL: provider.url }, "--model=openai-compatible:fake");
  const environment = { DATA_DIR: dataDirectory(), BASE_URL: server.url, AGENT_API_KEY: server.key };
  expect(await run(["chat", "assistant"], environment, "Hi")).toEqual({ code: 0, stdout: "Hello\n", stderr: "" });
  expect(await run(["chat", "assistant"], { ...environment, AGENT_API_KEY: "wrong-key" }, "Hi")).toEqual({
    code: 1,
    stdout: "",
    stderr: "agent-engine: assistant refuses the key (Invalid API key): set AGENT_API_KEY to the agent's own key\n",
  });
  const away = await run(["chat", "assistant", `--url=http://127.0.0.1:${await freePort()}`], environment, "Hi");
  expect(away).toMatchObject({ code: 1, stderr: expect.stringMatching(/^agent-engine: No server answers at/) });
  expect(await run(["chat", "assistant"], environment)).toMatchObject({ code: 2, stdout: "" });
  expect(await run(["chat"], environment, "Hi")).toMatchObject({ code: 2, stdout: "" });

  provider.answer({ stream: [say("Hel"), halfway.promise, say("lo"), done()] });
  const cut = start(["chat", "assistant"], environment, "Hi");
  await cut.printed(/Hel/);
  cut.child.kill("SIGINT");
  expect(await cut.ended).toBe(130);
  expect([cut.stdout(), cut.stderr()]).toEqual(["Hel", "\nInterrupted.\n"]);
  halfway.resolve();
});
