import { describe, expect, test } from "vitest";
import type { McpTransport } from "../../../../../src/core/ports.ts";
import { scrubber } from "../../../../../src/core/scrub/scrub.ts";
import { argumentCheck } from "../../../../../src/features/tools/plugins/arguments.ts";
import { boundListing } from "../../../../../src/features/tools/plugins/mcp/listing.ts";
import { maskTransport, unmaskTransport } from "../../../../../src/features/tools/plugins/mcp/masks.ts";
import {
  envProblem,
  headersProblem,
  listingSecrets,
  namespaceProblem,
  transportSecrets,
  urlProblem,
} from "../../../../../src/features/tools/plugins/mcp/rules.ts";
import { processorTime } from "../../../../processor-time.ts";

const http = (headers: Record<string, string>, url = "https://mcp.example/mcp"): McpTransport => ({
  type: "http",
  url,
  headers,
});
const stdio = (env: Record<string, string>): McpTransport => ({ type: "stdio", command: "run", args: ["-x"], env });

describe("a namespace", () => {
  test.each(["a", "crm", "github-mcp", "0", "x".repeat(32)])("may be %s", (name) => {
    expect(namespaceProblem(name)).toBeNull();
  });
  test.each(["", "-a", "A", "a_b", "a:b", "a.b", "x".repeat(33), "crm\n", "é"])("must not be %j", (name) => {
    expect(namespaceProblem(name)).toContain("1 to 32 lower-case letters");
  });
  test.each(["agent", "builtin", "github", "render", "hubspot", "markdown-pdf", "files"])("%s is taken", (name) => {
    expect(namespaceProblem(name)).toContain(`reserved; choose another one, such as my-${name}`);
  });
});

describe("settings", () => {
  test("name what is wrong with an address, with headers, with variables", () => {
    expect(urlProblem("https://mcp.example/mcp?x=1")).toBeNull();
    expect(urlProblem("ftp://mcp.example")).toContain("http:// or https://");
    expect(urlProblem("https://user:pass@mcp.example")).toContain("user name or a password");
    expect(headersProblem({ Authorization: "Bearer 123456", "X-Key": "••••last" })).toBeNull();
    expect(headersProblem({ Host: "x" })).toContain("The header Host cannot be set");
    expect(headersProblem({ "Mcp-Session-Id": "x" })).toContain("the protocol's; leave it out");
    expect(headersProblem({ "X-Key": "a\r\nX-Other: b" })).toContain("characters that a header cannot hold");
    expect(headersProblem(Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`x${n}`, ""])))).toContain("32");
    expect(headersProblem({ Authorization: "Bearer 12345" })).toContain(
      "The value of Authorization must have at least 6",
    );
    expect(headersProblem({ "X-Region": "eu", "X-Token": "" })).toBeNull();
    expect(envProblem({ API_TOKEN: "123456", WORKERS: "4", EMPTY_KEY: "", OLD_KEY: "••••" })).toBeNull();
    expect(envProblem({ API_TOKEN: "12345" })).toContain("The value of API_TOKEN must have at least 6");
    expect(envProblem({ "A=B": "x" })).toContain("letters, digits and underscores");
  });
});

describe("a mask", () => {
  test("shows the end of a long value and nothing of a short one", () => {
    expect(maskTransport(http({ A: "Bearer 0123456789", B: "short", C: "" }))).toEqual(
      http({ A: "••••6789", B: "••••", C: "••••" }),
    );
    expect(maskTransport(stdio({ TOKEN: "0123456789ab" }))).toEqual(stdio({ TOKEN: "••••89ab" }));
  });

  test("sent back keeps the stored value, and a new value replaces it", () => {
    const stored = http({ A: "first", B: "second" });
    expect(unmaskTransport(http({ A: "••••", C: "third" }), stored)).toEqual(http({ A: "first", C: "third" }));
    expect(unmaskTransport(stdio({ T: "••••x" }), stdio({ T: "value" }))).toEqual(stdio({ T: "value" }));
  });

  test("of a missing value is refused", () => {
    const nothing = "transport.headers.A: nothing is stored that it could stand for";
    expect(() => unmaskTransport(http({ A: "••••" }), null)).toThrow(nothing);
    expect(() => unmaskTransport(http({ A: "••••" }), http({ B: "x" }))).toThrow(nothing);
    expect(() => unmaskTransport(http({ A: "••••" }), stdio({ A: "x" }))).toThrow(nothing);
    expect(() => unmaskTransport(stdio({ constructor: "••••" }), stdio({}))).toThrow("transport.env.constructor");
  });

  test("does not carry a credential to another server", () => {
    const stored = http({ A: "first" });
    expect(() => unmaskTransport(http({ A: "••••" }, "https://evil.example/mcp"), stored)).toThrow("another server");
    expect(() => unmaskTransport(http({ A: "••••" }, "http://mcp.example/mcp"), stored)).toThrow("another server");
    expect(unmaskTransport(http({ A: "••••" }, "https://mcp.example/v2"), stored)).toMatchObject({
      headers: { A: "first" },
    });
  });
});

test("a mask does not carry a variable to another command, nor to the same one with other arguments", () => {
  const stored = stdio({ T: "value" });
  for (const change of [{ command: "sh" }, { args: ["-c", "env"] }]) {
    const refused = "transport.env: give the values again";
    expect(() => unmaskTransport({ ...stdio({ T: "••••" }), ...change }, stored)).toThrow(refused);
    expect(unmaskTransport({ ...stdio({ T: "new" }), ...change }, stored)).toMatchObject({ env: { T: "new" } });
  }
});

describe("a mask in an address", () => {
  const at = (url: string) => http({}, `https://mcp.example${url}`);
  const stored = at("/mcp?api_key=0123456789abcdef&v=1&v=2&0123456789abcdef#0123456789abcdef");
  const shown = "/mcp?api_key=••••cdef&v=••••&v=••••&••••cdef#••••cdef";

  test("stands for every value of the query and the fragment", () => {
    expect(maskTransport(stored)).toEqual(at(shown));
    for (const url of ["/mcp", "/mcp?", "/a%3Fb=c/mcp"]) expect(maskTransport(at(url))).toEqual(at(url));
    expect(maskTransport(at("/mcp?a=&&b="))).toEqual(at("/mcp?a=&&b="));
    expect(maskTransport(at("/mcp?a=b?c=dddddddddddd"))).toEqual(at("/mcp?a=••••?c=••••dddd"));
  });

  test("sent back keeps the stored values, also in the encoded form and along with new ones", () => {
    expect(unmaskTransport(at(shown), stored)).toEqual(stored);
    expect(unmaskTransport(http({}, new URL(`https://mcp.example${shown}`).href), stored)).toEqual(stored);
    expect(unmaskTransport(at("/new?v=3&v=••••&api_key=••••"), stored)).toEqual(
      at("/new?v=3&v=2&api_key=0123456789abcdef"),
    );
  });

  test("of a missing value is refused, and none is sent to another server", () => {
    const nothing = "transport.url: nothing is stored";
    expect(() => unmaskTransport(at("/mcp?key=••••"), stored)).toThrow(nothing);
    expect(() => unmaskTransport(at("/mcp?v=••••&v=••••&v=••••"), stored)).toThrow(nothing);
    expect(() => unmaskTransport(at(shown), null)).toThrow(nothing);
    for (const origin of ["https://evil.example", "http://mcp.example", "https://mcp.example:8443"]) {
      expect(() => unmaskTransport(http({}, origin + shown), stored)).toThrow("transport.url: give the values again");
    }
  });

  test("stands for a key in the path, which the scrubber knows too", () => {
    const secret = at("/s/0123456789abcdef/long-name-without-digits/fedcba9876543210?v=1");
    const masked = "/s/••••cdef/long-name-without-digits/••••3210?v=••••";
    expect(maskTransport(secret)).toEqual(at(masked));
    expect(unmaskTransport(at(masked), secret)).toEqual(secret);
    expect(unmaskTransport(http({}, new URL(`https://mcp.example${masked}`).href), secret)).toEqual(secret);
    expect(unmaskTransport(at("/s/a-new-key-of-2026/••••3210"), secret)).toEqual(
      at("/s/a-new-key-of-2026/fedcba9876543210"),
    );
    expect(() => unmaskTransport(at("/••••/••••/••••"), secret)).toThrow("transport.url: nothing is stored");
    expect(() => unmaskTransport(at("/s/mcp?v=••••"), at("/s/0123456789abcdef"))).toThrow("nothing is stored");
    expect(() => unmaskTransport(http({}, `https://evil.example${masked}`), secret)).toThrow("give the values again");
    expect(transportSecrets(secret)).toEqual(["0123456789abcdef", "fedcba9876543210"]);
    expect(transportSecrets(at("/0123456789%20abcdef"))).toEqual(["0123456789%20abcdef", "0123456789 abcdef"]);
    const long = http({}, "https://a-long-host-name-0123456789.example:8443/mcp");
    expect(maskTransport(long)).toEqual(long);
  });

  test("hides what is a secret for the scrubber too, whatever its name", () => {
    const url = "https://mcp.example/mcp?k=0123456789abcdef&api-token=abc&nothing-but-a-key&mode=fast";
    expect(transportSecrets(http({}, url))).toEqual(["0123456789abcdef", "abc", "nothing-but-a-key"]);
  });
});

test("the secrets of a transport are its values, their parts, and secret parameters of its address", () => {
  const url = "https://mcp.example/mcp?api_key=in-the-url&toolset=default";
  const basic = `Basic ${btoa("ada:lovelace")}`;
  expect(
    transportSecrets(http({ Authorization: "Bearer token-1", "X-Basic": basic, "User-Agent": "mine" }, url)),
  ).toEqual(expect.arrayContaining(["Bearer token-1", "token-1", basic, "ada:lovelace", "lovelace", "in-the-url"]));
  const all = transportSecrets(http({ Authorization: "Basic not base64!", "User-Agent": "mine" }, url));
  expect(all).not.toContain("mine");
  expect(all).not.toContain("default");
  expect(transportSecrets(http({ Authorization: " Bearer token-1 " }))).toContain("token-1");
});

test("the secrets of a process are its variables, but those that are settings by their names", () => {
  expect(transportSecrets(stdio({ NODE_ENV: "production", TZ: "Europe/Zurich", MODE: "geheim" }))).toEqual(["geheim"]);
  const scrub = scrubber(transportSecrets(stdio({ KEY: "-----\nabcdef\n  ghijkl\n" })));
  expect(scrub("abcdef, ghijkl")).toBe("[secret], [secret]");
});

describe("a server's listing", () => {
  const tool = (name: string, more: object = {}) => ({
    name,
    description: "",
    inputSchema: { type: "object" },
    ...more,
  });
  const schemaOf = (inputSchema: object) => boundListing([tool("a", { inputSchema })]).tools[0]?.inputSchema;
  const open = { type: "object", properties: {} };

  test("is cut at 256 tools and at 256 KiB, and says so", () => {
    const many = boundListing(Array.from({ length: 10_000 }, (_, index) => tool(`tool-${index}`)));
    expect(many.tools).toHaveLength(256);
    expect(many.note).toContain("the first 256 are used");
    const description = "x".repeat(10_000);
    const large = boundListing(Array.from({ length: 200 }, (_, index) => tool(`tool-${index}`, { description })));
    expect(JSON.stringify(large.tools).length).toBeLessThanOrEqual(256 * 1024 + 200);
    expect(large.tools.length).toBeGreaterThan(50);
    expect(large.tools[0]?.description).toHaveLength(4_096);
    expect(large.note).toContain(`the first ${large.tools.length} are used`);
  });

  test("has each name once, and no invalid one", () => {
    const names = ["a", "a", "", " ", "x".repeat(129), "n\u0000l", "\ud800", "b:c", "ü"];
    const { tools, note } = boundListing(names.map((name) => tool(name)));
    expect(tools.map(({ name }) => name)).toEqual(["a", "b:c", "ü"]);
    expect(note).toContain("6 of its tools are left out");
    expect(boundListing([tool("a")])).toMatchObject({ note: null });
  });

  test("says no secret of the plugin, not even half of one", () => {
    const secret = "sk-4711-geheim";
    const scrub = scrubber([secret]);
    const description = `${"x".repeat(4_090)}${secret}`;
    const inputSchema = {
      type: "object",
      properties: { a: { type: "string", default: secret, description: btoa(secret) }, [secret]: {} },
    };
    const { tools, note } = boundListing([tool("a", { description, inputSchema }), tool(`b-${secret}`)], scrub);
    expect(tools.map(({ name }) => name)).toEqual(["a"]);
    expect(JSON.stringify(tools)).not.toMatch(/sk-47|geheim/);
    expect(JSON.stringify(tools)).not.toContain(btoa(secret));
    expect(tools[0]?.inputSchema).toMatchObject({ properties: { a: { type: "string", default: "[secret]" } } });
    expect(note).toContain("hold a secret of the plugin");
    expect(note).not.toContain(secret);
  });

  test("stays a listing when a variable holds a word of JSON Schema", () => {
    const transport = {
      type: "stdio" as const,
      command: "x",
      args: [],
      env: { A: "object", B: "String ", C: "geheim", D: "verdeckt\nrequired" },
    };
    expect(listingSecrets(transport)).toEqual(["geheim", "verdeckt"]);
  });

  test("has schemas that every provider takes", () => {
    expect(schemaOf({ $schema: "x", properties: { a: { type: "string" } } })).toEqual({
      type: "object",
      properties: { a: { type: "string" } },
    });
    expect(schemaOf({ type: "array", items: {} })).toEqual(open);
    expect(schemaOf({ type: "object", properties: [] })).toEqual(open);
    expect(schemaOf({ type: "object", description: "x".repeat(70_000) })).toEqual(open);
    let deep: object = {};
    for (let level = 0; level < 10_000; level += 1) deep = { items: deep };
    expect(schemaOf({ type: "object", properties: { deep } })).toEqual(open);
    const nul = boundListing([tool("a", { description: "a\u0000b", inputSchema: { properties: { "x\u0000": {} } } })]);
    expect(JSON.stringify(nul.tools)).not.toContain("\\u0000");
  });
});

describe("arguments", () => {
  const check = (schema: object) => argumentCheck(schema as Record<string, unknown>);

  test("are checked by the server's schema", () => {
    const person = check({
      type: "object",
      properties: {
        name: { type: "string", minLength: 2 },
        age: { type: "integer" },
        tags: { type: "array", items: { enum: ["a", "b"] } },
      },
      required: ["name"],
      additionalProperties: false,
    });
    const good = { name: "Ada", age: 36, tags: ["a"] };
    expect(person(good)).toBe(good);
    expect(() => person({ age: 36 })).toThrow(/^The arguments are not valid: .*"name"/);
    expect(() => person({ name: "Ada", age: "36" })).toThrow(/^The arguments are not valid: age: .*integer/);
    expect(() => person({ name: "Ada", tags: ["c"] })).toThrow("tags/0");
    expect(() => person({ name: "Ada", other: 1 })).toThrow("not valid: other");
    for (const none of ["x", null, [], 7]) expect(() => person(none)).toThrow("they must be an object");
  });

  test("pass when the schema is broken, or can't be checked without risk", () => {
    const anything = { a: 1, pattern: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" };
    for (const schema of [
      { type: 7, required: "a", enum: "abc", properties: "x" },
      { $ref: "#/nowhere" },
      { $ref: "#" },
      { allOf: [{ $ref: "#" }] },
      { type: "object", properties: { pattern: { pattern: "^(a+)+$" } } },
      { patternProperties: { "^(a+)+$": false, a: {} }, additionalProperties: false },
      { not: { $ref: "#/x" } },
      { not: {} },
      { oneOf: [{ $ref: "#/a" }, { $ref: "#/b" }] },
      JSON.parse('{ "if": {}, "then": false }'),
      { unevaluatedProperties: false },
      { items: [{ type: "string" }] },
      { $id: "::::", properties: {} },
      { exclusiveMinimum: true, properties: { a: { exclusiveMinimum: true, minimum: "x" } } },
    ]) {
      expect(check(schema)(anything), JSON.stringify(schema)).toBe(anything);
    }
    // A field may have the name of a keyword.
    expect(() => check({ properties: { pattern: { type: "number" } } })(anything)).toThrow("pattern");
  });

  test("pass when their number times the schema's length would take too long", () => {
    const numbers = (length: number) => Array.from({ length }, () => 1);
    const texts = { a: { items: { type: "string" } } };
    expect(() => check({ properties: texts })({ a: numbers(1_000) })).toThrow("a/0");
    const document = { properties: { text: { type: "string" }, title: { type: "string" } }, required: ["text"] };
    expect(() => check(document)({ text: "x".repeat(100_000), title: 7 })).toThrow("title");
    const many = (length: number, part: object) => Array.from({ length }, () => part);
    const wide = Object.fromEntries(numbers(15_000).map((one, index) => [`k${index}`, one]));
    const taken = processorTime();
    for (const [schema, value] of [
      [{ items: { allOf: many(3_500, { type: "string" }) } }, numbers(15_000)],
      [{ items: { anyOf: many(3_500, { type: "string" }) } }, numbers(15_000)],
      [{ items: { enum: Array.from({ length: 10_000 }, (_, index) => `${index}`) } }, numbers(15_000)],
      [{ items: { required: Array.from({ length: 5_000 }, (_, index) => `${index}`) } }, many(15_000, {})],
      [{ allOf: many(3_500, { minLength: 9_000_000 }) }, "x".repeat(500_000)],
      [{ allOf: many(3_500, { minProperties: 20_000 }) }, wide],
      [{ type: "string", enum: many(20_000, {}) }, wide],
    ] as const) {
      const args = { a: value };
      expect(check({ properties: { a: schema } })(args)).toBe(args);
    }
    expect(taken()).toBeLessThan(1_000);
  });

  test("are checked in no time, whatever the schema wants", () => {
    const $defs: Record<string, object> = { d30: {} };
    for (let level = 0; level < 30; level += 1) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      $defs[`d${level}`] = { allOf: [next, next] };
    }
    const taken = processorTime();
    check({ type: "object", $defs, allOf: [{ $ref: "#/$defs/d0" }] })({});
    check({ properties: { a: { pattern: "^(a+)+$", format: "email" } } })({ a: `${"a".repeat(50_000)}!` });
    expect(taken()).toBeLessThan(1_000);
  });
});
