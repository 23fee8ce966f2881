import { newId } from "../../../../src/core/ids.ts";
import type { JsonObject } from "../../../../src/core/json.ts";
import { definePlugin, type Plugin } from "../../../../src/core/plugins/plugin.ts";
import { plugins } from "../../../../src/db/schema.ts";
import type { Harness } from "../../../harness.ts";

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

/** A family with a tool that reads, one that asks for approval, and secrets of each kind. `base` is its service. */
export function weather(base = "https://api.weather.example", fields: Partial<Plugin> = {}): Plugin {
  const ask = { parameters, effect: "none", needsApproval: false } as const;
  return definePlugin({
    namespace: "weather",
    title: "Weather",
    hosts: [new URL(base).host],
    secrets: [
      { key: "weather_key", type: "text", label: "Key", sensitive: true },
      { key: "weather_units", type: "select", choices: ["metric", "us"], optional: true, sensitive: false },
    ],
    tools: [
      {
        ...ask,
        name: "forecast",
        description: "Tells the weather of a city.",
        async execute({ city }, { request, secrets }) {
          const url = `${base}/forecast?${new URLSearchParams({ city: String(city) })}`;
          const { status, body } = await request({ url, headers: { "X-Key": secrets.weather_key ?? "" } });
          if (status !== 200) throw new Error(`The weather service answered ${status}`);
          return JSON.parse(body) as JsonObject;
        },
      },
      {
        ...ask,
        name: "order",
        description: "Orders rain.",
        effect: "external",
        needsApproval: true,
        execute: async ({ city }) => ({ rain: city ?? null }),
      },
    ],
    ...fields,
  });
}

/** An MCP server that an organization stored under the namespace. */
export async function storeServer(
  { services }: Pick<Harness, "services">,
  organizationId: string,
  fields: object = {},
) {
  const { ciphertext: config, keyId } = await services.cipher.seal(
    JSON.stringify({ type: "http", url: "https://mcp.example.com/mcp", headers: {} }),
    `${organizationId}:plugin:weather`,
  );
  await services.database.db.insert(plugins).values({
    id: newId(),
    organizationId,
    namespace: "weather",
    kind: "mcp",
    transport: "http",
    keyId,
    config,
    tools: [{ name: "order", description: "The server's.", inputSchema: { type: "object" } }],
    ...fields,
  });
}
