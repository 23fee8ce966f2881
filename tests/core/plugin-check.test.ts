import { expect, test } from "vitest";
import { definePlugin, type Plugin, type PluginContext } from "../../src/core/plugins/plugin.ts";
import { checkPlugin } from "../../src/core/plugins/plugin-check.ts";

const tool = {
  name: "forecast",
  description: "Tells the weather.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effect: "none" as const,
  needsApproval: false,
  execute: async () => "sun",
};

const weather: Plugin = definePlugin({
  namespace: "weather",
  title: "Weather",
  hosts: ["api.weather.example", "*.weather.example", "localhost:8080", "*.example.com:8443", "[::1]:80"],
  secrets: [
    { key: "weather_key", type: "text", label: "Key", sensitive: true },
    { key: "weather_units", type: "select", choices: ["metric", "us"], optional: true, sensitive: false },
  ],
  tools: [tool, { ...tool, name: "alarms", parameters: { type: "object" } }],
});

const problems = (value: unknown) => {
  const checked = checkPlugin(value);
  return "problems" in checked ? checked.problems : [];
};

test("a sound plugin is taken as a copy, with schemas that every provider takes", async () => {
  const given = structuredClone({ ...weather, tools: [] as object[] });
  given.tools = weather.tools.map((one) => ({ ...one }));
  const checked = checkPlugin(given);
  if (!("plugin" in checked)) throw new Error(checked.problems.join("; "));
  Object.assign(given.tools[0] ?? {}, { name: "no name", execute: null });
  Object.assign(given, { namespace: "agent" });
  expect(checked.plugin).toMatchObject({ namespace: "weather", tools: [{ name: "forecast" }, { name: "alarms" }] });
  expect(checked.plugin.tools[1]?.parameters).toEqual({ type: "object", properties: {} });
  const execute = checked.plugin.tools[0]?.execute;
  expect(await execute?.({}, {} as PluginContext)).toBe("sun");
});

const withTool = (fields: object) => ({ ...weather, tools: [{ ...tool, ...fields }] });
const withSecret = (fields: object) => ({
  ...weather,
  secrets: [{ key: "weather_key", type: "text", sensitive: true, ...fields }],
});
const cyclic: Record<string, unknown> = { type: "object" };
cyclic.properties = { self: cyclic };

test.each<[unknown, string]>([
  [undefined, "The default export is required"],
  [null, "The default export must be an object"],
  [() => weather, "The default export must be an object"],
  [{ ...weather, namespace: undefined }, "namespace is required"],
  [{ ...weather, namespace: "Weather" }, "namespace must be 1 to 32 lower-case letters, digits or dashes"],
  [{ ...weather, namespace: "a:b" }, "namespace must be 1 to 32"],
  [{ ...weather, namespace: "agent" }, "namespace must not be agent or builtin"],
  [{ ...weather, title: "  " }, "title must not be empty"],
  [{ ...weather, title: "x\u0000" }, "title must not contain NUL"],
  [{ ...weather, hosts: undefined }, "hosts is required"],
  [{ ...weather, hosts: ["https://api.example.com"] }, "hosts.0 must be a host such as"],
  [{ ...weather, hosts: ["api.example.com/v1"] }, "hosts.0 must be a host such as"],
  [{ ...weather, hosts: ["ok.example", "*"] }, "hosts.1 must be a host such as"],
  [{ ...weather, hosts: ["user@example.com"] }, "hosts.0 must be a host such as"],
  [{ ...weather, hosts: ["api.*.example"] }, "hosts.0 must be a host such as"],
  [{ ...weather, host: [] }, "The default export must not have the fields: host"],
  [withSecret({ key: "WEATHER" }), "secrets.0.key must be 1 to 64 of a-z, 0-9 and _"],
  [withSecret({ key: "auth_api_key" }), "secrets.0.key must not be a secret of the engine itself"],
  [withSecret({ sensitive: undefined }), "secrets.0.sensitive is required"],
  [withSecret({ type: "select" }), "secrets.0.choices must be given for a select"],
  [withSecret({ choices: ["a"] }), "secrets.0.choices must be given for a select, and only there"],
  [withSecret({ optionl: true }), "secrets.0 must not have the fields: optionl"],
  [{ ...weather, secrets: [...weather.secrets, weather.secrets[0]] }, "secrets must not have two of one key"],
  [{ ...weather, tools: [] }, "tools must have at least 1 entries"],
  [{ ...weather, tools: [tool, tool] }, "tools must not have two of one name"],
  [withTool({ name: "weather:forecast" }), "tools.0.name must be 1 to 64 letters, digits, _ and -"],
  [withTool({ description: "" }), "tools.0.description must not be empty"],
  [withTool({ parameters: undefined }), "tools.0.parameters is required"],
  [withTool({ parameters: { type: "string" } }), 'tools.0.parameters must be a JSON Schema of type "object"'],
  [withTool({ parameters: { type: "object", properties: { city: "string" } } }), "must have schemas in properties"],
  [withTool({ parameters: { type: "object", required: ["toString"] } }), "must name in required only what properties"],
  [withTool({ parameters: cyclic }), "tools.0.parameters must not be nested deeper than 32 levels"],
  [withTool({ parameters: { type: "object", description: "x".repeat(70_000) } }), "must be at most 65536 bytes"],
  [withTool({ effect: "read" }), "tools.0.effect must be one of: none, external"],
  [withTool({ needsApproval: "yes" }), "tools.0.needsApproval must be true or false"],
  [withTool({ execute: undefined }), "tools.0.execute must be a function"],
  [withTool({ needApproval: true }), "tools.0 must not have the fields: needApproval"],
])("%# a problem names its field: %s", (value, expected) => {
  expect(problems(value)).toEqual([expect.stringContaining(expected)]);
});

test("all problems are reported at once", () => {
  expect(problems({ namespace: "x", tools: [{}] }).length).toBeGreaterThan(6);
});
