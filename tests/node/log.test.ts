import { describe, expect, test } from "vitest";
import { bootSecrets, createLog } from "../../src/adapters/node/log/log.ts";

type Line = Record<string, unknown>;

function capture(secrets: string[] = [], pretty = false) {
  const raw: string[] = [];
  const log = createLog({ level: "debug", pretty, secrets, write: (line) => raw.push(line) });
  const lines = () => raw.map((line) => JSON.parse(line) as Line);
  return { log, raw, lines };
}

describe("the log", () => {
  test("writes one JSON line with level, time, message and the fields of its parents", () => {
    const { log, lines } = capture();
    log.child({ requestId: "r1" }).info({ status: 200 }, "Answered");
    expect(lines()).toEqual([
      { level: "info", time: expect.stringMatching(/^\d{4}-.*Z$/), requestId: "r1", status: 200, message: "Answered" },
    ]);
  });

  test.each([
    false,
    true,
  ])("escapes characters that would steer a terminal or reverse the writing (pretty: %s)", (pretty) => {
    const { log, raw } = capture([], pretty);
    log.info({ path: "/a\u009b31m\u202eb\u001b[31m\nc" }, "Request\u2066");
    const [line = ""] = raw;
    // Apart from its own colours, which a terminal gets.
    expect(line.trimEnd()).not.toMatch(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\n]/);
    expect(line).toContain("\\u009b31m");
    expect(line).toContain("Request\\u2066");
  });

  test("leaves out what is below its level", () => {
    const raw: string[] = [];
    const log = createLog({ level: "warn", pretty: false, secrets: [], write: (line) => raw.push(line) });
    log.info({}, "quiet");
    log.warn({}, "loud");
    expect(raw).toHaveLength(1);
  });

  test.each([
    "authorization",
    "Cookie",
    "password",
    "apiKey",
    "openai_api_key",
    "botToken",
    "key",
    "clientSecret",
  ])("masks the field %s at any depth, in children too", (name) => {
    const { log, raw } = capture();
    log.info({ [name]: "hidden-1", deep: { list: [{ [name]: ["hidden-2"] }] } }, "fields");
    log.child({ [name]: "hidden-3" }).info({}, "child");
    expect(raw.join("")).not.toContain("hidden");
  });

  test("keeps counts and flags, whatever their name", () => {
    const { log, lines } = capture();
    log.info({ promptTokens: 12, apiKeyConfigured: true, key: null }, "fields");
    expect(lines()[0]).toMatchObject({ promptTokens: 12, apiKeyConfigured: true, key: null });
  });

  test("masks known values wherever they occur, in sentences and in escaped form too", () => {
    const secret = 'pass"word\\1';
    const { log, raw } = capture([secret]);
    log.error({ text: `it is ${secret}`, err: new Error(`refused ${secret}`) }, `bad ${secret}`);
    expect(JSON.stringify(JSON.parse(raw[0] ?? ""))).not.toContain("word");
  });

  test.each([
    "Authorization: Bearer abcdefgh12345678",
    "the key aek_0123456789abcdefABCDEF was used",
    "the token aep_0123456789abcdefABCDEF was used",
    "the token aei_0123456789abcdefABCDEF was used",
    "connect postgres://user:hunter22@db/app failed",
    "GET /setup?token=abcdef123456",
  ])("recognises a credential without being told of it: %s", (text) => {
    const { log, raw } = capture();
    log.info({ text }, text);
    expect(raw[0]).toContain("[secret]");
    expect(raw[0]).not.toMatch(/abcdef|hunter22/);
  });

  test("shows an error with its causes and codes, but not the parameters of a failed statement", () => {
    const cause = Object.assign(new Error("duplicate key"), { code: "23505", detail: "Key (email)=(a@b.c)" });
    const failed = Object.assign(new Error("Failed query: insert into users\nparams: a@b.c,digest", { cause }), {
      query: "insert into users",
      params: ["a@b.c", "digest"],
    });
    const { log, raw, lines } = capture();
    log.error({ err: failed }, "It failed");
    expect(lines()[0]?.err).toMatchObject({
      type: "Error",
      message: "Failed query: insert into users",
      stack: expect.stringContaining("log.test.ts"),
      cause: { message: "duplicate key", code: "23505" },
    });
    expect(raw[0]).not.toMatch(/a@b\.c|digest/);
  });

  test("survives circles, endless texts, bytes, maps and values JSON can't hold", () => {
    const circle: Line = {};
    circle.self = circle;
    const { log, raw, lines } = capture();
    const error = new Error("round");
    error.cause = error;
    log.info(
      { circle, error, long: "x".repeat(1e6), bytes: new Uint8Array(1e6), big: 1n, map: new Map([["a", 1]]) },
      "odd",
    );
    expect(lines()[0]).toMatchObject({ big: "1", bytes: "1000000 bytes", map: { a: 1 } });
    expect(raw[0]?.length).toBeLessThan(100_000);
  });

  test("for a person: one readable line, as free of secrets", () => {
    const { log, raw } = capture(["hunter2hunter2"], true);
    log.info({ address: "http://localhost:4000", password: "x", note: "hunter2hunter2" }, "Listening");
    expect(raw.join("")).toContain("Listening");
    expect(raw.join("")).toContain("http://localhost:4000");
    expect(raw.join("")).not.toMatch(/hunter2|^\{/);
  });
});

test("the environment's secrets: keys, passwords, and the password inside DATABASE_URL in both spellings", () => {
  const secrets = bootSecrets({
    PORT: "4000",
    ENCRYPTION_KEY: "k0",
    ENCRYPTION_KEY_PREVIOUS: "k1, k2",
    OWNER_PASSWORD: "p0",
    OPENAI_API_KEY: "sk-0",
    OPENAI_BASE_URL: "http://models",
    DATABASE_URL: "postgres://user:p%40ss@db/app",
  });
  expect(secrets.filter(Boolean).sort()).toEqual(["k0", "k1", "k2", "p%40ss", "p0", "p@ss", "sk-0"]);
});
