import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { auditLogs } from "../../../src/db/schema.ts";
import { Bundle as Schema } from "../../../src/features/bundles/schema.ts";
import { harness } from "../../harness.ts";
import { type Bundle, caller, canaries, fullAgent, icon } from "./full-agent.ts";

test("an export holds every part of an agent's configuration, and no secret", async () => {
  const h = await harness();
  const { call, path } = await fullAgent(h);
  const bundle = await call<Bundle>("GET", `${path}/export`);

  // The secrets are stored.
  const { secrets } = await call("GET", `${path}/secrets`);
  expect(secrets).toContainEqual({ key: "openai_api_key", configured: true });
  const { channels } = await call("GET", `${path}/channels`);
  for (const credential of [canaries.telegram, canaries.slack, canaries.signing, canaries.twilio]) {
    expect(JSON.stringify(channels)).toContain(`••••${credential.slice(-4)}`);
  }
  const [, token] = JSON.stringify(await call("GET", `${path}/event-sources`)).match(/"webhookToken":"([^"]+)"/) ?? [];
  expect(token).toMatch(/^[\w-]{43}$/);

  const text = JSON.stringify(bundle);
  for (const [place, canary] of Object.entries({ ...canaries, token })) expect(text, place).not.toContain(canary);
  for (const [, half] of Object.entries(canaries)) expect(text).not.toContain(half.slice(-8));
  expect(text).not.toContain("••••");

  expect(bundle).toMatchObject({
    version: "1.3",
    type: "instance",
    exportedAt: new Date(h.clock.now()).toISOString(),
    instance: {
      slug: "shop",
      maxSteps: 7,
      temperature: 0.25,
      monthlyTokenBudget: 5_000_000_000,
      icon,
      tracingEnabled: true,
      tracingProject: "shop",
      optoutStopKeywords: ["HALT", "FERMA"],
      debounceMs: 0,
      prompts: [{ key: "02-soul" }, { key: "04-safety", content: "" }],
      skills: [{ skillSlug: "shop", enabled: true, autoLoad: true, pinnedVersion: "0.1.0" }],
      // The skill turned httpRequest on; the need for approval of its calls is kept.
      manualTools: ["currentTime", "readSkill"],
      toolsNeedingApproval: ["currentTime", "httpRequest"],
      secrets: ["auth_api_key", "openai_api_key", "tracing_api_key"].map((key) => ({ key, configured: true })),
      skillEnv: [
        {
          skillSlug: "shop",
          env: [
            { key: "SHOP_TOKEN", sensitive: true, configured: true },
            { key: "SHOP_URL", sensitive: false, value: "https://shop.example" },
          ],
        },
      ],
      hooks: [
        { actionConfig: { args: { headers: { "X-Token": "{{skill_env.shop.SHOP_TOKEN}}" } } } },
        { mutates: true, position: 3 },
        { enabled: false, position: 3 },
      ],
      room: { prompt: "Look after the orders.", outboundTarget: "123" },
      eventSources: [
        { name: "issues", authKeyConfigured: false, definitions: [] },
        {
          name: "orders",
          authKeyConfigured: true,
          config: { repository: "acme/shop", labels: ["bug"] },
          definitions: [{ name: "refund" }, { name: "cancel" }, { name: "paid" }],
        },
      ],
      scheduledTasks: [{ name: "Check" }, { name: "New year", enabled: false }, { name: "Report" }],
    },
  });
  expect(bundle.instance).toHaveProperty("channels", [
    {
      channelType: "web",
      enabled: true,
      config: {
        contextMapping: { customer: "customer.id", basket: "basket" },
        allowedOrigins: ["https://shop.example"],
      },
    },
    { channelType: "telegram", enabled: true, config: { allowedUserIds: "123,456", transport: "polling" } },
    // Slack is off and has only credentials.
    { channelType: "whatsapp", enabled: false, config: { mode: "auth_token", whatsappNumber: "+390612345678" } },
    { channelType: "agent", enabled: false, config: {} },
  ]);

  // The export matches its schema, completely.
  expect(Schema.parse(bundle)).toEqual(bundle);

  h.clock.advance(60_000);
  const { exportedAt, ...again } = await call<Bundle>("GET", `${path}/export`);
  const { exportedAt: before, ...first } = bundle;
  expect(exportedAt).not.toBe(before);
  expect(JSON.stringify(again)).toBe(JSON.stringify(first));

  const entries = await h.services.database.db.select().from(auditLogs).where(eq(auditLogs.action, "agent.export"));
  expect(entries).toHaveLength(2);
  expect(entries[0]).toMatchObject({ target: "shop", actorType: "user" });
});

test("a new agent's export is that of an agent without any field set", async () => {
  const h = await harness();
  const call = caller(h, await h.as("owner"));
  await call("POST", "/api/instances", { slug: "plain" });
  const { exportedAt, ...bundle } = await call<Bundle>("GET", "/api/instances/plain/export");
  const parsed = Schema.parse({ version: "1.3", type: "instance", instance: { slug: "plain", name: "plain" } });
  const channels = [
    { channelType: "web", enabled: false, config: { contextMapping: {}, allowedOrigins: [] } },
    { channelType: "agent", enabled: true, config: {} },
  ];
  expect(bundle).toEqual({ ...parsed, instance: { ...parsed.instance, channels, toolsNeedingApproval: [] } });
});

test("tools of an MCP server are exported by name, and nothing of how the server is reached", async () => {
  const tool = { name: "find", description: "Finds.", inputSchema: { type: "object" } };
  const mcp = { list: async () => [tool], call: async () => null, forget: () => {}, close: async () => {} };
  const h = await harness({ mcp });
  const call = caller(h, await h.as("owner"));
  const transport = {
    type: "http",
    url: "https://mcp.example/?key=canary-in-url-012",
    headers: { "X-Key": "canary-header-0123" },
  };
  await call("PUT", "/api/organizations/acme/plugins/library", { kind: "mcp", transport, enabled: true });
  await call("POST", "/api/instances", { slug: "reader" });
  await call("PATCH", "/api/instances/reader/tools", { enabled: ["library:find"] });
  const bundle = await call<Bundle>("GET", "/api/instances/reader/export");
  expect(bundle.instance.manualTools).toEqual(["library:find"]);
  expect(JSON.stringify(bundle)).not.toMatch(/canary|mcp\.example/);
  expect((await call("POST", "/api/instances/import", bundle)).warnings).toEqual([]);
});
