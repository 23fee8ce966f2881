import { once } from "node:events";
import fs, { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { createLog } from "../../src/adapters/node/log/log.ts";
import { checkPublicAddress } from "../../src/adapters/node/machine/address.ts";
import { checkDirectory } from "../../src/adapters/node/machine/directory.ts";
import { checkChatRequests, checkPlugins, checkSettings } from "../../src/adapters/node/machine/machine.ts";
import type { Probe } from "../../src/adapters/node/machine/probe.ts";
import { callProviders, checkProviders } from "../../src/adapters/node/machine/providers.ts";
import { openStorage } from "../../src/adapters/node/storage.ts";
import { checkStorage } from "../../src/cli/doctor/storage.ts";
import { checkServer, doctor } from "../../src/cli/doctor.ts";
import type { Check } from "../../src/core/check.ts";
import { parseSettings } from "../../src/core/config.ts";
import { newId } from "../../src/core/ids.ts";
import { defaultPolicies, type Policies } from "../../src/core/policies.ts";
import { version } from "../../src/core/version.ts";
import { agents, jobs, secrets, workspaces } from "../../src/db/schema.ts";
import type { Engine } from "../../src/engine.ts";
import {
  checkAgentKeys,
  checkChannels,
  checkJobs,
  checkMessages,
  checkPolicies,
} from "../../src/features/health/checks.ts";
import { openEngine, prepare } from "../../src/main.ts";
import { fillDirectory } from "../embedded.ts";
import { type Reply, refusal, startFakeProvider } from "../fake-provider.ts";

const engine: Probe = { kind: "engine", version, stopping: false };
const nothing = (code: string): Probe => ({ kind: "nothing", code });
/** The address of the server on this machine. */
const local = "http://localhost:4000";
const other: Probe = { kind: "other", status: 502 };
const line = ({ status, message }: { status: string; message: string }) => `${status}: ${message}`;

describe("the public address", () => {
  const https = { BASE_URL: "https://tea.example" };
  test.each<[Record<string, string>, Probe | null, boolean, RegExp]>([
    [{}, null, true, /^ok: BASE_URL is not set: http:\/\/localhost:4000, for this machine only$/],
    [{ HOST: "0.0.0.0" }, null, true, /^warn: BASE_URL is not set while HOST is 0\.0\.0\.0: set it/],
    [{ ...https, TRUST_PROXY: "1" }, engine, true, /^ok: https:\/\/tea\.example answers$/],
    [https, engine, true, /^warn: .* TRUST_PROXY is 0/],
    [{ BASE_URL: "http://tea.example" }, engine, true, /^warn: .* unencrypted/],
    [{ BASE_URL: "http://localhost:5" }, engine, true, /^ok: /],
    [https, other, true, /^fail: .* something else \(status 502\)/],
    [https, nothing("ENOTFOUND"), true, /^fail: .* \(ENOTFOUND\) though a server runs here/],
    [https, nothing("TIMEOUT"), true, /^warn: .* from another one$/],
    [https, nothing("ECONNREFUSED"), false, /^warn: .* start the server/],
  ])("%j, %j, a server here: %j", (environment, found, running, expected) => {
    expect(line(checkPublicAddress(parseSettings(environment), found, { local, running }))).toMatch(expected);
  });
});

test.each([
  [{}, "ok: Open"],
  [{ FEATURES: "channels" }, "ok: Open"],
  [{ EDITION: "managed" }, "ok: Managed, with administration, providers, knowledge, governance, channels"],
  [{ EDITION: "managed", FEATURES: "channels,providers" }, "ok: Managed, with providers, channels"],
  [{ EDITION: "managed", FEATURES: "," }, "ok: Managed, without features"],
])("the edition of %j", (environment, expected) => {
  const checks = checkSettings(environment, parseSettings(environment));
  expect(checks.filter(({ name }) => name === "edition").map(line)).toEqual([expected]);
});

test("plugins: all by their namespaces, or those that can't be used", () => {
  const plugin = { namespace: "weather", title: "Weather", hosts: [], secrets: [], tools: [] };
  const installed = { shipped: [{ ...plugin, namespace: "github" }], loaded: [{ specifier: "./w.js", plugin }] };
  expect(line(checkPlugins({ ...installed, problems: [] }))).toBe("ok: github, weather from ./w.js");
  const problems = [{ specifier: "./x.js", message: "title is required" }];
  expect(line(checkPlugins({ ...installed, problems }))).toBe(
    "fail: PLUGINS names what can't be used: ./x.js (title is required). Mend or take out, then restart the server",
  );
  expect(line(checkPlugins({ shipped: [], loaded: [], problems: [] }))).toBe("ok: None");
});

describe("the public address of the policy", () => {
  const inside = { BASE_URL: "http://10.0.0.1:4000" };
  const policy = "https://tea.example";
  test.each<[Record<string, string>, string | null | undefined, Probe | null, RegExp]>([
    [{ ...inside, TRUST_PROXY: "1" }, policy, engine, /^ok: https:\/\/tea\.example answers$/],
    [{ TRUST_PROXY: "1" }, policy, engine, /^ok: https:\/\/tea\.example answers$/],
    [inside, policy, engine, /^warn: https:\/\/tea\.example answers, but TRUST_PROXY is 0/],
    [inside, policy, other, /^fail: https:\/\/tea\.example .* check the proxy and the policy publicAddress$/],
    [inside, null, other, /^fail: http:\/\/10\.0\.0\.1:4000 .* check the proxy and BASE_URL$/],
    [inside, policy, nothing("ENOTFOUND"), /^fail: https:\/\/tea\.example does not answer \(ENOTFOUND\)/],
    // The line of the policies says so already.
    [inside, "http://tea.example", engine, /^ok: http:\/\/tea\.example answers$/],
    [inside, null, engine, /^warn: http:\/\/10\.0\.0\.1:4000 answers, but unencrypted: put a proxy with TLS/],
    [
      inside,
      undefined,
      engine,
      /^warn: .* unencrypted: unless the policy publicAddress is https, put a proxy with TLS/,
    ],
  ])("%j, %j, %j", (environment, publicAddress, found, expected) => {
    expect(
      line(checkPublicAddress(parseSettings(environment), found, { local, running: true, policy: publicAddress })),
    ).toMatch(expected);
  });
});

test.each<[Probe, RegExp]>([
  [engine, /^ok: Version \S+ runs at http:\/\/here$/],
  [{ ...engine, version: "0.0.1" }, /^warn: Version 0\.0\.1 runs .* restart it to update$/],
  [{ ...engine, stopping: true }, /^warn: .* stopping$/],
  [nothing("ECONNREFUSED"), /^ok: None runs at http:\/\/here$/],
  [other, /^fail: Something else answers/],
])("the server on this machine: %j", (found, expected) => {
  expect(line(checkServer("http://here", found))).toMatch(expected);
});

test.each<[Record<string, string>, RegExp]>([
  [{}, /^warn: No key in the environment/],
  [
    { ANTHROPIC_API_KEY: "k" },
    /^ok: Configured: anthropic; not configured: openai, google, mistral, ollama, openai-compatible$/,
  ],
  [{ OPENAI_BASE_URL: "http://x" }, /^ok: Configured: openai;/],
  [{ OLLAMA_BASE_URL: "http://x" }, /^ok: Configured: ollama;/],
  [{ OPENAI_API_KEY: "k", OPENAI_COMPATIBLE_API_KEY: "k" }, /^warn: openai-compatible lacks its address: /],
  [{ OPENAI_API_KEY: "k", ANTHROPIC_BASE_URL: "http://x" }, /^warn: anthropic lacks its key: /],
])("providers by %j", (environment, expected) => {
  expect(line(checkProviders(environment))).toMatch(expected);
});

describe("the call of a provider", () => {
  const named = (check: Check) => `${check.name} ${line(check)}`;
  const list = (...ids: string[]): Reply => ({
    status: 200,
    body: JSON.stringify({ data: ids.map((id) => ({ id })) }),
  });
  const key = "sk-environment-0123456789";
  const call = async (
    reply: Reply,
    variables: (url: string) => Record<string, string>,
    preset: string | null = null,
  ) => {
    const provider = await startFakeProvider(reply);
    const checks = await callProviders(variables(provider.url), preset);
    return { lines: checks.map(named), asked: provider.exchanges.map(({ path, headers }) => ({ path, headers })) };
  };
  const openai = (url: string) => ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: url });
  const compatible = (url: string) => ({ OPENAI_COMPATIBLE_BASE_URL: url });

  test.each<[Reply, string | null, RegExp]>([
    [list("gpt-5-mini"), null, /^provider openai ok: It answers, and has gpt-5-mini$/],
    [list("gpt-5-mini-2026-08-07"), null, /^provider openai ok: It answers, and has gpt-5-mini$/],
    [
      list("gpt-4o"),
      null,
      /^provider openai warn: It does not list gpt-5-mini, which agents without a model use: set the policy/,
    ],
    [list("gpt-4o"), "openai:gpt-9", /^provider openai warn: It does not list gpt-9, /],
    [list("gpt-4o"), "mistral:m", /^provider openai ok: It answers, and lists 1 models$/],
    [
      refusal(401, `Incorrect API key provided: ${key}`),
      null,
      /^provider openai fail: The provider refused the key \(status 401\): set/,
    ],
    [
      refusal(403, "no"),
      null,
      /^provider openai fail: The provider refused the key, or what it asked for \(status 403\)/,
    ],
    [refusal(404, "no"), null, /^provider openai fail: .* \(status 404\)/],
    [refusal(503, "no"), null, /^provider openai warn: The provider failed \(status 503\): try again later$/],
    [refusal(429, "no"), null, /^provider openai warn: .* \(status 429\): try again later$/],
    [
      { status: 200, body: "<html>" },
      null,
      /^provider openai fail: The address does not answer as the provider's API does/,
    ],
    [{ status: 302, headers: { Location: "http://localhost" } }, null, /^provider openai fail: The address redirects/],
  ])("tells what %j with the policy %j means", async (reply, preset, expected) => {
    const { lines, asked } = await call(reply, openai, preset);
    expect(lines).toEqual([expect.stringMatching(expected)]);
    expect(lines.join()).not.toContain(key);
    expect(asked).toMatchObject([{ path: "/v1/models", headers: { authorization: `Bearer ${key}` } }]);
  });

  test("is made in each provider's own form, to all of the environment at once", async () => {
    const { lines, asked } = await call(
      { status: 200, body: JSON.stringify({ models: [{ name: "models/m" }] }) },
      (url) => ({
        ANTHROPIC_API_KEY: key,
        ANTHROPIC_BASE_URL: url,
        GEMINI_API_KEY: key,
        GOOGLE_GEMINI_BASE_URL: url,
        MISTRAL_API_KEY: key,
        MISTRAL_BASE_URL: url,
        OLLAMA_BASE_URL: url,
      }),
      "google:m",
    );
    expect(lines).toContain("provider google ok: It answers, and has m");
    expect(lines).toHaveLength(4);
    const sent = asked.map(({ path, headers }) => [
      path,
      headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers.authorization,
    ]);
    expect(sent.sort()).toEqual(
      [
        ["/v1/models", `Bearer ${key}`],
        ["/v1/models", undefined],
        ["/v1/models?limit=1000", key],
        ["/v1/models?pageSize=1000", key],
      ].sort(),
    );
  });

  test("is no problem when a server lists no models, and needs no key there", async () => {
    const { lines } = await call({ status: 404 }, compatible);
    expect(lines).toEqual(["provider openai-compatible warn: It lists no models (status 404): not checked"]);
  });

  test("has a time limit", async () => {
    const { url } = await startFakeProvider("hang");
    expect((await callProviders(compatible(url), null, 50)).map(named)).toEqual([
      expect.stringMatching(/^provider openai-compatible fail: No answer within 0.05 seconds: check/),
    ]);
  });

  test("reports a missing response, and what is wrong with the address", async () => {
    const lines = async (url: string) => (await callProviders(compatible(url), null)).map(named);
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    expect(await lines(`http://127.0.0.1:${port}/v1`)).toEqual([
      expect.stringMatching(/^provider openai-compatible fail: The host refused the connection: check/),
    ]);
    expect(await lines("http://me:hunter22@127.0.0.1:1")).toEqual([
      "provider openai-compatible fail: The address of the provider openai-compatible must hold no password",
    ]);
  });
});

const failedJob = {
  id: "j",
  kind: "extractMemories",
  key: "k",
  attempts: 10,
  error: "Model\nprovider error",
  failedAt: "2026-01-01T00:00:00.000Z",
};

test.each<[Parameters<typeof checkJobs>[0], RegExp]>([
  [{ pending: 0, failed: 0, failedLately: 0, newest: [] }, /^ok: Nothing failed; 0 jobs wait$/],
  [{ pending: 1, failed: 0, failedLately: 0, newest: [] }, /^ok: Nothing failed; 1 job waits$/],
  [
    { pending: 3, failed: 2, failedLately: 0, newest: [failedJob] },
    /^ok: Nothing failed in the last 24 hours, 2 before; 3 jobs wait$/,
  ],
  [
    { pending: 3, failed: 2, failedLately: 1, newest: [failedJob] },
    /^fail: 1 job failed for good in the last 24 hours, the last one extractMemories at 2026-01-01T00:00:00\.000Z, tried 10 times: Model provider error\. Mend the cause; .* for each$/,
  ],
  [{ pending: 0, failed: 9, failedLately: 9, newest: [failedJob] }, /^fail: 9 jobs failed for good/],
])("background work: %j", (jobs, expected) => {
  expect(line(checkJobs(jobs))).toMatch(expected);
});

test.each<[Parameters<typeof checkMessages>[0], RegExp]>([
  [{ unanswered: 0, unsent: 0, lastUnsent: null }, /^ok: None was given up in the last 24 hours$/],
  [
    { unanswered: 1, unsent: 0, lastUnsent: null },
    /^warn: In the last 24 hours 1 message could not be answered: GET .*retry tries one again$/,
  ],
  [
    { unanswered: 0, unsent: 2, lastUnsent: { slug: "shop", channel: "telegram", error: "It is away" } },
    /^warn: In the last 24 hours 2 messages could not be sent \(the last one on telegram of shop: It is away\): /,
  ],
  [
    { unanswered: 3, unsent: 1, lastUnsent: null },
    /3 messages could not be answered, and 1 message could not be sent: /,
  ],
])("messages: %j", (messages, expected) => {
  expect(line(checkMessages(messages))).toMatch(expected);
});

test("names channels that their messengers refuse, with the reason and since when", () => {
  const now = Date.UTC(2026, 0, 10);
  const channel = { slug: "shop", type: "telegram", isFailing: true, error: "The token is unknown" };
  const since = (ms: number) => ({ ...channel, since: new Date(now - ms) });
  expect(line(checkChannels([], now))).toBe("ok: No messenger refuses one");
  const hour = 3_600_000;
  expect(line(checkChannels([since(49 * hour), { ...since(hour), type: "slack", isFailing: false }], now))).toBe(
    "warn: Failing: telegram of shop for 2 days (The token is unknown). Not delivered lately: slack of shop for 1 hour (The token is unknown). Mend what the messenger names; each PUT of a channel starts it again",
  );
  expect(line(checkChannels([{ ...channel, since: null }, since(5_000)], now))).toContain(
    "telegram of shop (The token is unknown), telegram of shop since a moment ago (",
  );
});

test("agents whose key is short are named", () => {
  expect(checkAgentKeys({ shortKeys: [] })).toEqual([]);
  expect(checkAgentKeys({ shortKeys: ["tea", "cake"] }).map(line)).toEqual([
    "warn: tea, cake: the API key has fewer than 16 characters and can be guessed; store another",
  ]);
});

describe("stored settings that are weak", () => {
  type Stored = Parameters<typeof checkPolicies>[0];
  const nothing: Stored = {
    policies: defaultPolicies,
    sensitiveHosts: [],
    organizations: 1,
    endlessKeys: 0,
    openAgents: [],
    unboundedAgents: [],
  };
  const lines = (stored: Omit<Partial<Stored>, "policies"> & { policies?: Partial<Policies> }) =>
    checkPolicies({ ...nothing, ...stored, policies: { ...defaultPolicies, ...stored.policies } }).map(
      ({ name, ...check }) => `${name} ${line(check)}`,
    );

  test.each<[Parameters<typeof lines>[0], RegExp]>([
    [{}, /^policies ok: Nothing is weak/],
    [
      { policies: { publicAddress: "http://tea.example" } },
      /^policies warn: publicAddress is http:\/\/tea\.example, unencrypted: put a proxy/,
    ],
    [{ policies: { publicAddress: "https://tea.example" } }, /^policies ok/],
    [{ policies: { publicAddress: "http://127.0.0.1:4000" } }, /^policies ok/],
    [{ policies: { publicAddress: "http://[::1]:4000" } }, /^policies ok/],
    [{ organizations: 2 }, /^policies warn: environmentKeys is all: 2 organizations .* first-organization or none$/],
    [{ organizations: 2, policies: { environmentKeys: "first-organization" } }, /^policies ok/],
    [{ policies: { rateLimit: { limit: 6_000, windowSeconds: 60 } } }, /^policies ok/],
    [
      { policies: { rateLimit: { limit: 6_001, windowSeconds: 60 } } },
      /^policies warn: rateLimit is 6001 calls in 60 s/,
    ],
    [{ policies: { rateLimit: { limit: 101, windowSeconds: 1 } } }, /^policies warn: .* the default, 600 in 60 s$/],
    [{ policies: { rateLimit: { limit: 300_000, windowSeconds: 3_600 } } }, /^policies ok/],
    [{ sensitiveHosts: ["localhost:80", "[::1]"] }, /^policies warn: .*\(localhost:80, \[::1\]\): take out/],
    [{ endlessKeys: 1 }, /^management keys warn: 1 key never expires: issue new ones with expiresAt, then delete/],
    [{ endlessKeys: 3 }, /^management keys warn: 3 keys never expire: /],
    [{ openAgents: ["tea"] }, /^open agents warn: tea: anybody may talk.*whose chat_id is known.*turn authEnabled on$/],
    [{ unboundedAgents: ["tea"] }, /^open agents warn: tea: userMonthlyTokenBudget .* set monthlyTokenBudget too$/],
    [{ openAgents: "abcdefghijkl".split("") }, /^open agents warn: a, b, c, d, e, f, g, h, i, j and 2 more: anybody/],
  ])("%j", (stored, expected) => {
    const found = lines(stored);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });

  test("are one line each, all at once", () => {
    const found = lines({
      policies: { publicAddress: "http://tea.example", rateLimit: { limit: 9_999, windowSeconds: 1 } },
      organizations: 2,
      sensitiveHosts: ["localhost"],
      endlessKeys: 1,
      openAgents: ["tea"],
    });
    expect(found).toHaveLength(6);
    for (const text of found) expect(text).toMatch(/^[a-z ]+ warn: [^\n]+$/);
  });
});

describe("the report on an installation", () => {
  /** An installation with an Owner and a token of theirs, made by the first test that needs one. */
  let first: Promise<{ directory: string; token: string }> | undefined;
  afterAll(async () => first && rmSync((await first).directory, { recursive: true }));

  const open = (environment: Record<string, string>) =>
    openEngine(prepare(environment, { terminal: false }), "http://localhost");
  const calm = (DATA_DIR: string) => ({ DATA_DIR, PORT: "0", LOG_LEVEL: "silent" });

  const send = ({ app }: Engine, path: string, method: string, json: unknown, headers: Record<string, string> = {}) =>
    app.request(path, {
      method,
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(json),
    });

  async function install() {
    const directory = mkdtempSync(join(tmpdir(), "doctor-"));
    await fillDirectory(directory);
    const { engine, close } = await open(calm(directory));
    const owner = { email: "owner@example.com", password: "correct horse" };
    await engine.boot({ owner });
    const signedIn = await send(engine, "/api/auth/sign-in/email", "POST", owner);
    const { token } = (await signedIn.json()) as { token: string };
    await close();
    return { directory, token };
  }

  /** A data directory with the given policies, whose server is stopped. */
  async function installed(policies: Record<string, unknown>, failedAt?: Date) {
    first ??= install();
    const { directory, token } = await first;
    const DATA_DIR = mkdtempSync(join(tmpdir(), "doctor-"));
    onTestFinished(() => rmSync(DATA_DIR, { recursive: true, force: true }));
    cpSync(directory, DATA_DIR, { recursive: true });
    const environment = calm(DATA_DIR);
    const { engine, close } = await open(environment);
    const headers = { Authorization: `Bearer ${token}` };
    expect((await send(engine, "/api/installation/policies", "PATCH", policies, headers)).status).toBe(200);
    await close();
    if (failedAt) await leaveFailedJob(DATA_DIR, failedAt);
    return environment;
  }

  async function leaveFailedJob(DATA_DIR: string, failedAt: Date) {
    const ports = { clock: systemClock, log: createLog({ level: "silent", pretty: false, secrets: [] }) };
    const { database, close } = await openStorage(parseSettings({ DATA_DIR }), ports);
    const failed = { kind: "extractMemories", status: "failed", attempts: 10, lastError: "Model provider error" };
    await database.db.insert(jobs).values({ id: newId(), failedAt, ...failed });
    await close();
  }

  async function report(environment: Record<string, string>, json: boolean): Promise<{ code: number; text: string }> {
    let text = "";
    const written = vi.spyOn(process.stdout, "write").mockImplementation((chunk, ...rest) => {
      text += String(chunk);
      const done = rest.at(-1);
      if (typeof done === "function") done();
      return true;
    });
    try {
      return { code: await doctor(environment, { json } as Parameters<typeof doctor>[1]), text };
    } finally {
      written.mockRestore();
    }
  }

  test("warns in both forms and stays healthy", async () => {
    const environment = await installed({ publicAddress: "http://tea.example", httpAllowedHosts: ["127.0.0.1:80"] });
    const { code, text } = await report(environment, true);
    const { ok, checks } = JSON.parse(text) as { ok: boolean; checks: Record<string, string>[] };
    expect([code, ok]).toEqual([0, true]);
    expect(checks.filter(({ name }) => name === "policies").map(({ status }) => status)).toEqual(["warn", "warn"]);

    const lines = (await report(environment, false)).text.split("\n").filter((found) => /^\w+ +policies /.test(found));
    expect(lines).toEqual([
      expect.stringMatching(/^warn {2}policies {9}publicAddress is http:\/\/tea\.example, unencrypted: /),
      expect.stringMatching(/^warn {2}policies {9}httpAllowedHosts lets tools .*\(127\.0\.0\.1:80\)/),
    ]);
  });

  test("names agents whose secrets are too short to be scrubbed", async () => {
    const environment = await installed({});
    const ports = { clock: systemClock, log: createLog({ level: "silent", pretty: false, secrets: [] }) };
    const { database, close } = await openStorage(parseSettings(environment), ports);
    const { db } = database;
    const [workspace] = await db.select().from(workspaces);
    if (!workspace) throw new Error("An installation has a workspace");
    const { id: workspaceId, organizationId } = workspace;
    const agent = { id: newId(), organizationId, workspaceId, slug: "tea", name: "Tea" };
    await db.insert(agents).values(agent);
    const sealed = (bytes: number) => ({ agentId: agent.id, keyId: "k", ciphertext: new Uint8Array(28 + bytes) });
    await db.insert(secrets).values([
      { id: newId(), key: "weather_key", ...sealed(5) },
      { id: newId(), key: "s3_region", ...sealed(2) },
    ]);
    await close();
    const { code, text } = await report(environment, false);
    expect([code, text]).toEqual([0, expect.stringMatching(/^warn {2}secrets +Too short to be .*, in tea: store/m)]);
  });

  test("fails while background work fails for good", async () => {
    const environment = await installed({}, new Date());
    const { code, text } = await report(environment, false);
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(/^fail {2}background work {2}1 job failed for good .*Model provider error/m),
    ]);
  }, 120_000);

  test("asks at the public address of the policy", async () => {
    const environment = await installed({ publicAddress: "http://127.0.0.1:1" });
    const { checks } = JSON.parse((await report({ ...environment, BASE_URL: "http://127.0.0.1:2" }, true)).text) as {
      checks: Record<string, string>[];
    };
    expect(checks.find(({ name }) => name === "public address")?.message).toMatch(/^http:\/\/127\.0\.0\.1:1 does not/);
  });

  test("warns about what it can't examine while a server uses the database", async () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), "doctor-"));
    await fillDirectory(DATA_DIR);
    const { close } = await open(calm(DATA_DIR));
    onTestFinished(async () => {
      await close();
      rmSync(DATA_DIR, { recursive: true, force: true });
    });
    const { checks } = await checkStorage(parseSettings({ DATA_DIR }), "http://localhost:4000");
    expect(checks.map(({ name, status }) => `${name} ${status}`)).toEqual([
      "database ok",
      "migrations ok",
      "encryption key ok",
      "policies warn",
    ]);

    // A server with a failing database, as on a full disk, answers 503 when it needs the database.
    const failing = createServer((_request, response) => void response.writeHead(503).end("{}"));
    await new Promise<void>((resolve) => failing.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void failing.close());
    const address = failing.address();
    const at = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    const { checks: found } = await checkStorage(parseSettings({ DATA_DIR }), at);
    expect(found).toMatchObject([
      { name: "database", status: "fail", message: expect.stringContaining("can't use it") },
    ]);
  });

  test.each([
    [10, "fail", ": free some on its disk", 0o700],
    [200, "warn", ", so that no files are taken: free some on its disk", 0o700],
    [700, "warn", ", of which files may take 431: free some on its disk", 0o700],
    [700, "warn", ", of which files may take 431: free some on its disk. Others on this machine can read ", 0o755],
  ])("with %d MB left on the disk of the data directory, it reports: %s%s", (bavail, status, advice, mode) => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), "doctor-"));
    onTestFinished(() => rmSync(DATA_DIR, { recursive: true, force: true }));
    fs.chmodSync(DATA_DIR, mode);
    const left = vi.spyOn(fs, "statfsSync").mockReturnValue({ bavail, bsize: 1_000_000 } as never);
    syncBuiltinESMExports();
    onTestFinished(() => {
      left.mockRestore();
      syncBuiltinESMExports();
    });
    expect(checkDirectory(parseSettings({ DATA_DIR }))).toMatchObject({
      status,
      message: expect.stringContaining(`${DATA_DIR} has ${bavail} MB of free space left${advice}`),
    });
  });

  test("warns of retired variables", async () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), "doctor-"));
    onTestFinished(() => rmSync(DATA_DIR, { recursive: true, force: true }));
    const { text } = await report({ DATA_DIR, PORT: "0", MESSAGE_MAX_RESTARTS: "1" }, true);
    expect((JSON.parse(text) as { checks: unknown[] }).checks).toContainEqual({
      name: "settings",
      status: "warn",
      message: "MESSAGE_MAX_RESTARTS is no longer read: set the installation policy maxRestarts instead",
    });
  });
});

test.each([
  ["", []],
  ["20", []],
  ["0", ["CHAT_REQUESTS_PER_MINUTE is 0: chat completions have no limit for each client address, instead of 20"]],
  [
    "500",
    [
      "CHAT_REQUESTS_PER_MINUTE is 500: chat completions have a limit of 500 a minute for each client address, instead of 20",
    ],
  ],
])("CHAT_REQUESTS_PER_MINUTE of %j is reported unless it is the default", (value, expected) => {
  expect(
    checkChatRequests(parseSettings({ CHAT_REQUESTS_PER_MINUTE: value }).CHAT_REQUESTS_PER_MINUTE).map(
      ({ message }) => message,
    ),
  ).toEqual(expected);
});

test("a start warns of retired variables", () => {
  // The log writes by this, past the streams of the process.
  const write = vi.spyOn(fs, "writeSync").mockReturnValue(1_000);
  onTestFinished(() => write.mockRestore());
  prepare({ AGENT_CALL_TIMEOUT_MS: "1", PORT: "1" }, { terminal: false });
  const logged = write.mock.calls.map(([, chunk]) => String(chunk)).join("");
  expect(logged).toContain(
    "AGENT_CALL_TIMEOUT_MS is no longer read: set the installation policy agentCallTimeoutSeconds",
  );
});
