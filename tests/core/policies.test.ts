import { expect, test } from "vitest";
import { retiredSettings } from "../../src/core/config.ts";
import {
  CurrentPolicies,
  defaultPolicies,
  Policies,
  PolicyChanges,
  readPolicies,
  usableKeys,
} from "../../src/core/policies.ts";

test("the defaults are policies, and decisions §11 names them", () => {
  expect(Policies.parse(defaultPolicies)).toEqual(defaultPolicies);
  expect(readPolicies({})).toEqual({ policies: defaultPolicies, ignored: [] });
});

test("stored values override the defaults, part by part; values this release rejects are named", () => {
  const stored = {
    rateLimit: { limit: 50, burst: 9 },
    activityConnections: { total: "many" },
    debounceMs: 1,
    maxRestarts: 1.5,
    someday: true,
    constructor: 1,
  };
  const { policies, ignored } = readPolicies(stored);
  expect(policies).toEqual({ ...defaultPolicies, debounceMs: 1, rateLimit: { limit: 50, windowSeconds: 60 } });
  expect(ignored).toEqual(["activityConnections", "constructor", "maxRestarts", "someday"]);
  const fromDatabase = JSON.parse('{"__proto__":{"debounceMs":1}}') as Record<string, unknown>;
  expect(readPolicies(fromDatabase)).toEqual({ policies: defaultPolicies, ignored: ["__proto__"] });
});

test.each([
  ["https://agents.example.com/", "https://agents.example.com"],
  ["http://[::1]:4000/engine//", "http://[::1]:4000/engine"],
  ["https://münchen.example", "https://münchen.example"],
])("the address %j is taken as %j", (given, taken) => {
  expect(PolicyChanges.parse({ publicAddress: given })).toEqual({ publicAddress: taken });
});

test.each([
  "",
  "agents.example.com",
  "ftp://x",
  "https://",
  "https://user:secret@x",
  "https://x?a=1",
  "https://x#a",
  "https://x/?",
  " https://x",
  "https://x\n",
  "https://x/\u0000",
  "https://x/\ud800",
  `https://${"a".repeat(2050)}`,
])("the address %j is refused", (publicAddress) => {
  expect(PolicyChanges.safeParse({ publicAddress }).success).toBe(false);
});

test.each(["erp", "ERP.internal:8080", "10.0.0.1", "[fd00::1]:65535", "a-b.c:1"])("the host %s is allowed", (host) => {
  expect(PolicyChanges.parse({ httpAllowedHosts: [host] })).toEqual({ httpAllowedHosts: [host.toLowerCase()] });
});

test.each([
  "",
  "http://erp",
  "erp/path",
  "erp:",
  "erp:0",
  "erp:65536",
  "-erp",
  "*.erp",
  "a b",
  "fd00::1",
  "a@b",
])("the host %j is refused", (host) => {
  expect(PolicyChanges.safeParse({ httpAllowedHosts: [host] }).success).toBe(false);
});

test.each(["gpt-5", "openai", "openai:", "openai: ", "nobody:gpt-5", ":x"])("the model %j is refused", (model) => {
  expect(PolicyChanges.safeParse({ defaultModel: model }).success).toBe(false);
});

test("an older answer does not undo a newer one, and ignored names are news once", () => {
  const current = new CurrentPolicies();
  current.set({ ...defaultPolicies, maxRestarts: 2 }, 2);
  current.set({ ...defaultPolicies, maxRestarts: 1 }, 1);
  expect(current.values.maxRestarts).toBe(2);
  const news = [["a", "b"], ["a", "b"], ["a"], [], ["a"]].map((names) => current.isNews(names));
  expect(news).toEqual([true, false, true, false, true]);
});

test("whose agents may use the environment's keys", () => {
  const keys = new Map([["openai_api_key", "k"]]);
  const sizes = (["all", "first-organization", "none"] as const).flatMap((environmentKeys) =>
    [true, false].map((first) => usableKeys({ ...defaultPolicies, environmentKeys }, keys, first).size),
  );
  expect(sizes).toEqual([1, 1, 1, 0, 0, 0]);
});

test("each retired variable names a policy that there is", () => {
  const retired = [
    "AGENT_CALL_TIMEOUT_MS",
    "SSE_MAX_CONNECTIONS",
    "SSE_MAX_CONNECTIONS_PER_USER",
    "MESSAGE_SOFT_DEBOUNCE_MS",
    "MESSAGE_TYPING_DELAY_MS",
    "MESSAGE_MAX_RESTARTS",
  ];
  const warnings = retiredSettings(Object.fromEntries(retired.map((name) => [name, "1"])));
  expect(warnings).toHaveLength(retired.length);
  for (const warning of warnings) {
    const policy = / policy (\S+) instead$/.exec(warning)?.[1] ?? "";
    const value = policy.split(".").reduce<unknown>((from, name) => Object(from)[name], defaultPolicies);
    expect(value, warning).toBeTypeOf("number");
  }
});
