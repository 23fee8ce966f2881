import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pluginTables } from "../../scripts/plugin-tables.ts";
import { readFont } from "../../src/adapters/node/fonts.ts";
import { parseSettings } from "../../src/core/config.ts";
import { checkPlugin } from "../../src/core/plugins/plugin-check.ts";
import { namespaceProblem } from "../../src/features/tools/plugins/mcp/rules.ts";
import { installedPlugins } from "../../src/main.ts";
import { shippedPlugins } from "../../src/plugins/index.ts";

const shipped = shippedPlugins({}, readFont);

test.each(shipped.map((plugin) => [plugin.namespace, plugin] as const))("%s is what a plugin must be", (_, plugin) => {
  expect(checkPlugin(plugin)).toMatchObject({ plugin: { namespace: plugin.namespace } });
  // Tools that change something elsewhere need an approval; those that only read, or stay in the conversation, don't.
  const asks = plugin.tools.filter(({ needsApproval }) => needsApproval).map(({ name }) => name);
  const changes = plugin.tools.filter(({ effect }) => effect === "external" && plugin.hosts.length > 0);
  expect(asks).toEqual(changes.map(({ name }) => name));
});

test("no two have one namespace, and no MCP server may take one", () => {
  const namespaces = shipped.map(({ namespace }) => namespace);
  expect(namespaces.length).toBeGreaterThan(2);
  expect(new Set(namespaces).size).toBe(namespaces.length);
  expect(namespaces.filter((namespace) => namespaceProblem(namespace) === null)).toEqual([]);
});

test("docs/plugins.md lists their tools, secrets and hosts as they are", () => {
  const page = readFileSync(new URL("../../docs/plugins.md", import.meta.url), "utf8");
  expect(page).toContain(pluginTables(shipped));
});

test("settings name other addresses of their services, and an empty one names none", async () => {
  const hostsBy = async (environment: Record<string, string>) => {
    const { shipped } = await installedPlugins(parseSettings(environment));
    return shipped.flatMap(({ hosts }) => hosts);
  };
  expect(await hostsBy({ GITHUB_API_BASE_URL: "" })).toEqual(["api.github.com", "api.render.com", "api.hubapi.com"]);
  expect(
    await hostsBy({
      GITHUB_API_BASE_URL: "https://github.example.com/api/v3",
      RENDER_API_BASE_URL: "http://render.internal",
      HUBSPOT_API_BASE_URL: "http://[::1]:8080/",
    }),
  ).toEqual(["github.example.com", "render.internal:80", "[::1]:8080"]);
});
