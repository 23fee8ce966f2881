import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { thisMachine } from "../../src/adapters/node/machine/machine.ts";
import { parseSettings } from "../../src/core/config.ts";
import { startFakeProvider } from "../fake-provider.ts";

function machine(variables: Record<string, string>) {
  const DATA_DIR = mkdtempSync(join(tmpdir(), "machine-"));
  onTestFinished(() => rmSync(DATA_DIR, { recursive: true, force: true }));
  const environment = { DATA_DIR, ...variables };
  const plugins = { shipped: [], loaded: [], problems: [] };
  return thisMachine({ environment, settings: parseSettings(environment), plugins, local: "http://localhost:4321" });
}

test("a server examines its settings, its providers and its address as doctor does", async () => {
  const provider = await startFakeProvider({ status: 200, body: JSON.stringify({ data: [{ id: "tea" }] }) });
  const { examine } = machine({ OPENAI_COMPATIBLE_BASE_URL: provider.url, CHAT_REQUESTS_PER_MINUTE: "0" });
  const { before, after } = await examine({ publicAddress: null, defaultModel: "openai-compatible:tea" });
  expect(before.map(({ name, status }) => `${name} ${status}`)).toEqual([
    "settings ok",
    "edition ok",
    "settings warn",
    "data directory ok",
  ]);
  expect(after.map(({ name, status, message }) => `${name} ${status}: ${message}`)).toEqual([
    "plugins ok: None",
    expect.stringMatching(/^providers ok: Configured: openai-compatible;/),
    "provider openai-compatible ok: It answers, and has tea",
    "public address ok: BASE_URL is not set: http://localhost:4321, for this machine only",
  ]);
});

test("the policy publicAddress is asked before BASE_URL", async () => {
  const { examine } = machine({ BASE_URL: "http://127.0.0.1:2" });
  const { after } = await examine({ publicAddress: "http://127.0.0.1:1", defaultModel: null });
  expect(after.at(-1)).toMatchObject({
    status: "fail",
    message: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 does/),
  });
});

test("no secret of the settings is shown, and only the host of the database", () => {
  const { scrub, databaseHost } = machine({
    OPENAI_API_KEY: "sk-of-the-machine-test",
    DATABASE_URL: "postgres://tea:hunter22@db.example:5432/tea",
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
  });
  expect(scrub("refused sk-of-the-machine-test")).toBe("refused [secret]");
  expect(databaseHost).toBe("db.example:5432");
  expect(machine({}).databaseHost).toBeNull();
});
