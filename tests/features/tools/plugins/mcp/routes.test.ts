import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { defaultPolicies } from "../../../../../src/core/policies.ts";
import type { Mcp, McpServer, McpTool } from "../../../../../src/core/ports.ts";
import { agents, auditLogs, plugins } from "../../../../../src/db/schema.ts";
import { loadMcpPlugins, mcpSecrets, mcpTools } from "../../../../../src/features/tools/index.ts";
import { type Harness, harness } from "../../../../harness.ts";
import { behaving, canary, connections, reference } from "../../../../node/mcp-servers.ts";
import { toolContext } from "../../../../turn/input.ts";

const base = "/api/organizations/acme/plugins";
const tool = (name: string): McpTool => ({ name, description: `Does ${name}`, inputSchema: { type: "object" } });
const http = { type: "http", url: "https://mcp.example/mcp", headers: { Authorization: `Bearer ${canary}` } };

/** Servers that the test controls: the calls they received, and the tools they list. */
function servers() {
  const asked: McpServer[] = [];
  const forgotten: string[] = [];
  const say = { tools: async (): Promise<McpTool[]> => [tool("find"), tool("make")] };
  const mcp: Mcp = {
    list: async (server) => {
      asked.push(server);
      return say.tools();
    },
    call: async (_server, { name }, args) => ({ called: name, args: args as never }),
    forget: (id) => void forgotten.push(id),
    close: async () => {},
  };
  return { mcp, asked, forgotten, say };
}

async function withServers(options: { allowStdioMcp?: boolean } = {}) {
  const fake = servers();
  const h = await harness({ mcp: fake.mcp, ...options });
  const owner = await h.as("owner");
  const put = (namespace: string, json: unknown, headers = owner) =>
    h.request(`${base}/${namespace}`, { method: "PUT", headers, json });
  const get = (path = "") => h.request(`${base}${path}`, { headers: owner });
  return { h, ...fake, owner, put, get };
}

const pluginOf = async (response: Promise<Response>) => {
  const answer = await response;
  const body = await answer.json();
  expect(answer.status, JSON.stringify(body)).toBe(200);
  return body.plugin;
};

const refusal = async (response: Promise<Response>) => {
  const { status, ...answer } = await response.then(async (r) => ({ status: r.status, ...(await r.json()) }));
  return [status, answer.message, ...(answer.issues ?? [])];
};

const revisions = async ({ services }: Harness) =>
  Object.fromEntries((await services.database.db.select().from(agents)).map(({ slug, revision }) => [slug, revision]));

const entries = async ({ services }: Harness) => services.database.db.select().from(auditLogs).orderBy(auditLogs.id);

describe("a plugin", () => {
  test("is stored with the tools of its server, listed, read, and shown masked", async () => {
    const { put, get, asked } = await withServers();
    const plugin = await pluginOf(put("crm", { kind: "mcp", transport: http }));
    expect(plugin).toEqual({
      namespace: "crm",
      kind: "mcp",
      transport: { ...http, headers: { Authorization: "••••44d0" } },
      enabled: true,
      status: "connected",
      lastError: null,
      tools: [
        { name: "find", description: "Does find" },
        { name: "make", description: "Does make" },
      ],
      updatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(asked).toMatchObject([{ name: "crm", transport: http, allowedHosts: [] }]);
    expect(asked[0]?.id).toBe(`${asked[0]?.owner}:crm`);
    expect(await pluginOf(get("/crm"))).toEqual(plugin);
    expect(await (await get()).json()).toEqual({ plugins: [plugin] });
  });

  test("keeps a masked value, and is another configuration after each change", async () => {
    const { put, asked } = await withServers();
    await pluginOf(put("crm", { kind: "mcp", transport: http }));
    const headers = { Authorization: "••••44d0", "X-New": "value" };
    const changed = await pluginOf(put("crm", { kind: "mcp", transport: { ...http, headers } }));
    expect(changed.transport.headers).toEqual({ Authorization: "••••44d0", "X-New": "••••" });
    expect(asked[1]?.transport).toMatchObject({ headers: { Authorization: `Bearer ${canary}`, "X-New": "value" } });
    expect(asked[1]).toMatchObject({ id: asked[0]?.id });
    expect(asked[1]?.version).not.toBe(asked[0]?.version);
    const elsewhere = { ...http, url: "https://evil.example/mcp", headers };
    expect(await refusal(put("crm", { kind: "mcp", transport: elsewhere }))).toEqual([
      400,
      "transport.headers: give the values again, since the address is that of another server",
    ]);
    expect(asked).toHaveLength(2);
  });

  test("names the replaced fields in the log, without their values", async () => {
    const { h, put } = await withServers({ allowStdioMcp: true });
    const save = (transport: object) => pluginOf(put("crm", { kind: "mcp", transport }));
    const stdio = { type: "stdio", command: "crm", args: ["--read-only"], env: { TOKEN: canary } };
    await save(http);
    await save({ ...http, url: `${http.url}/v2?k=${canary}` });
    await save({ ...http, url: `${http.url}/v2?k=${canary}`, headers: { Authorization: `${canary}2` } });
    await save(stdio);
    await save({ ...stdio, args: ["--all"], env: { TOKEN: `${canary}2` } });
    await save({ ...stdio, args: ["--all"], env: { TOKEN: `${canary}2` } });
    const updates = (await entries(h)).filter(({ action }) => action === "plugin.update");
    expect(updates.map(({ summary }) => [summary.replaced, Object.keys(summary.changes ?? {}).toSorted()])).toEqual([
      [["url"], []],
      [["headers"], []],
      [
        ["args", "env"],
        ["command", "env", "transport"],
      ],
      [["args", "env"], []],
    ]);
    expect(JSON.stringify(updates)).not.toMatch(new RegExp(`${canary}|v2|--all|--read-only`));
  });

  test("whose address holds a key shows it in no answer, entry, error or log", async () => {
    const { h, put, get, asked, say, owner } = await withServers();
    const keyed = { ...http, url: `https://mcp.example/mcp?k=${canary}&v=1`, headers: {} };
    say.tools = async () => Promise.reject(new Error("The server is away"));
    const answers = [
      await pluginOf(put("crm", { kind: "mcp", transport: keyed })),
      await pluginOf(get("/crm")),
      await (await get()).json(),
      await pluginOf(h.request(`${base}/crm/refresh`, { method: "POST", headers: owner })),
    ];
    expect(answers[0].transport.url).toBe("https://mcp.example/mcp?k=••••44d0&v=••••");
    const back = await pluginOf(put("crm", { kind: "mcp", transport: answers[0].transport }));
    expect(back.transport).toEqual(answers[0].transport);
    expect(asked.at(-1)).toMatchObject({ transport: keyed, version: asked[0]?.version, secrets: [canary] });
    const elsewhere = { ...keyed, url: "https://evil.example/mcp?k=••••44d0" };
    expect((await refusal(put("crm", { kind: "mcp", transport: elsewhere })))[0]).toBe(400);
    expect(JSON.stringify([answers, back, await entries(h), h.logs])).not.toContain(canary);
  });

  test("is stored without the secrets that its server lists", async () => {
    const { h, put, say } = await withServers();
    const inputSchema = { type: "object", properties: { key: { type: "string", default: canary } } };
    say.tools = async () => [{ name: "find", description: `Finds with ${canary}`, inputSchema }];
    const plugin = await pluginOf(put("crm", { kind: "mcp", transport: http }));
    expect(plugin.tools).toEqual([{ name: "find", description: "Finds with [secret]" }]);
    const [row] = await h.services.database.db.select({ tools: plugins.tools }).from(plugins);
    expect(JSON.stringify(row)).not.toContain(canary);
    expect(row?.tools).toMatchObject([{ inputSchema: { properties: { key: { default: "[secret]" } } } }]);
  });

  test("whose server can't be reached is stored with the reason, and keeps the tools that it had", async () => {
    const { h, put, get, say, owner } = await withServers();
    say.tools = async () => Promise.reject(new Error("The host refused the connection"));
    const failed = { status: "failed", lastError: "The host refused the connection", tools: [] };
    expect(await pluginOf(put("crm", { kind: "mcp", transport: http }))).toMatchObject(failed);
    const refresh = () => h.request(`${base}/crm/refresh`, { method: "POST", headers: owner });
    say.tools = async () => [tool("find"), tool("find")];
    expect(await pluginOf(refresh())).toMatchObject({
      status: "connected",
      lastError: expect.stringContaining("1 of its tools are left out"),
      tools: [{ name: "find" }],
    });
    say.tools = async () => Promise.reject(new Error("It is gone\u0000"));
    expect(await pluginOf(refresh())).toMatchObject({ status: "failed", lastError: "It is gone", tools: [{}] });
    expect(await pluginOf(get("/crm"))).toMatchObject({ status: "failed" });
  });

  test("that is off is not connected to, and gives no tools", async () => {
    const { h, put, asked, forgotten, owner } = await withServers();
    const off = await pluginOf(put("crm", { kind: "mcp", transport: http, enabled: false }));
    expect(off).toMatchObject({ enabled: false, status: "disabled", tools: [] });
    // A plugin that is off stays off when `enabled` is left out.
    expect(await pluginOf(put("crm", { kind: "mcp", transport: http }))).toMatchObject({ status: "disabled" });
    expect(asked).toEqual([]);
    expect(await refusal(h.request(`${base}/crm/refresh`, { method: "POST", headers: owner }))).toEqual([
      409,
      "The plugin is disabled: enable it first",
    ]);
    expect(await pluginOf(put("crm", { kind: "mcp", transport: http, enabled: true }))).toMatchObject({
      status: "connected",
    });
    await pluginOf(put("crm", { kind: "mcp", transport: http, enabled: false }));
    expect(forgotten).toContain(asked[0]?.id);
    const { services, organization } = h;
    expect(await loadMcpPlugins(services, organization.id, ["crm:find"])).toEqual([]);
  });

  test("is deleted, and disconnected from", async () => {
    const { h, put, get, asked, forgotten, owner } = await withServers();
    await pluginOf(put("crm", { kind: "mcp", transport: http }));
    const remove = () => h.request(`${base}/crm`, { method: "DELETE", headers: owner });
    expect(await (await remove()).json()).toEqual({ deleted: true });
    expect(forgotten).toEqual([asked[0]?.id]);
    for (const gone of [remove(), get("/crm"), get("/Not%20one"), get("/agent")]) {
      expect(await refusal(gone)).toEqual([404, "Plugin not found"]);
    }
    const none = h.request(`${base}/crm/refresh`, { method: "POST", headers: owner });
    expect(await refusal(none)).toEqual([404, "Plugin not found"]);
  });

  test("makes every agent of its organization, and no other, load anew", async () => {
    const { h, put, owner } = await withServers();
    const { slug } = await h.agent();
    const beside = await h.createOrganization("beside");
    const stranger = { slug: "stranger", workspaceId: beside.workspaceId };
    const theirs = await h.as("owner", { organization: beside });
    await h.request("/api/instances", { method: "POST", headers: theirs, json: stranger });
    const steps = [
      () => put("crm", { kind: "mcp", transport: http }),
      () => h.request(`${base}/crm/refresh`, { method: "POST", headers: owner }),
      () => put("crm", { kind: "mcp", transport: http, enabled: false }),
      () => put("crm", { kind: "mcp", transport: http, enabled: true }),
      () => h.request(`${base}/crm`, { method: "DELETE", headers: owner }),
    ];
    for (const step of steps) {
      const before = await revisions(h);
      expect((await step()).status).toBe(200);
      const now = await revisions(h);
      expect(now[slug]).toBe(Number(before[slug]) + 1);
      expect(now.stranger).toBe(before.stranger);
    }
    expect((await entries(h)).map(({ action }) => action)).toEqual(
      expect.arrayContaining(["plugin.create", "plugin.refresh", "plugin.delete"]),
    );
  });

  test("that somebody else changes meanwhile is not overwritten", async () => {
    const { put, say } = await withServers();
    await pluginOf(put("crm", { kind: "mcp", transport: http }));
    let changed: Promise<Response> | undefined;
    say.tools = async () => {
      if (!changed) {
        changed = put("crm", { kind: "mcp", transport: { ...http, url: "https://mcp.example/other" } });
        await changed;
      }
      return [];
    };
    expect(await refusal(put("crm", { kind: "mcp", transport: http }))).toEqual([
      409,
      "Somebody else changed this plugin meanwhile: look at it, then try again",
    ]);
    expect((await changed)?.status).toBe(200);
  });

  test("is one of 64 at most", async () => {
    const { h, put } = await withServers();
    const { db } = h.services.database;
    const sealed = { keyId: "x", config: new Uint8Array(12), kind: "mcp", organizationId: h.organization.id };
    await db.insert(plugins).values(Array.from({ length: 64 }, (_, n) => ({ ...sealed, namespace: `p${n}` })));
    expect(await refusal(put("crm", { kind: "mcp", transport: http }))).toEqual([
      409,
      "The organization has 64 plugins: delete one first",
    ]);
  });
});

describe("settings of a plugin", () => {
  test("are refused by field", async () => {
    const { put, asked } = await withServers();
    const of = (transport: object) => ({ kind: "mcp", transport });
    expect(await refusal(put("Crm", of(http)))).toEqual([400, expect.stringContaining("lower-case letters")]);
    expect(await refusal(put("github", of(http)))).toEqual([400, expect.stringContaining("reserved")]);
    const paths = async (json: object) => (await refusal(put("crm", json))).slice(2).map(({ path }) => path);
    expect(await paths({ kind: "other", transport: http })).toEqual(["kind"]);
    expect(await paths(of({ ...http, url: "file:///etc" }))).toEqual(["transport.url"]);
    expect(await paths(of({ ...http, headers: { Host: "x" } }))).toEqual(["transport.headers"]);
    expect(await paths(of({ type: "stdio", command: "" }))).toEqual(["transport.command"]);
    expect(await paths(of({ type: "stdio", command: "x", env: { "A B": "x" } }))).toEqual(["transport.env"]);
    expect(await paths(of({ type: "other" }))).toEqual(["transport.type"]);
    expect(asked).toEqual([]);
  });

  test("may name a process only where the installation allows it", async () => {
    const stdio = { type: "stdio", command: "run", args: ["-x"], env: { TOKEN: canary } };
    const closed = await withServers();
    expect(await refusal(closed.put("crm", { kind: "mcp", transport: stdio }))).toEqual([
      400,
      "This installation starts no MCP servers as processes: whoever runs it may set ALLOW_STDIO_MCP=true",
    ]);
    const open = await withServers({ allowStdioMcp: true });
    const { transport } = await pluginOf(open.put("crm", { kind: "mcp", transport: stdio }));
    expect(transport).toEqual({ ...stdio, env: { TOKEN: "••••44d0" } });
    // A process that was stored while the setting allowed it does not run either.
    const { services, organization } = open.h;
    const [plugin] = await loadMcpPlugins(services, organization.id, ["crm:find"]);
    if (!plugin) throw new Error("No plugin");
    const [first] = mcpTools({ ...services, options: closed.h.services.options }, [plugin]);
    const context = toolContext();
    await expect(first?.execute({}, context)).rejects.toThrow("ALLOW_STDIO_MCP=true");
  });

  test("are for Owners and Admins", async () => {
    const { h, put } = await withServers();
    expect((await put("crm", { kind: "mcp", transport: http }, await h.as("admin"))).status).toBe(200);
    expect((await put("crm", { kind: "mcp", transport: http }, await h.as("member"))).status).toBe(403);
  });
});

describe("the tools of plugins", () => {
  test("are called under their namespace, checked, and count as changing something outside", async () => {
    const { h, put, say } = await withServers();
    const inputSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    say.tools = async () => [{ ...tool("find"), inputSchema }];
    await pluginOf(put("crm", { kind: "mcp", transport: http }));
    const { services, organization } = h;
    services.policies.set({ ...defaultPolicies, httpAllowedHosts: ["mcp.internal"] });
    const loaded = await loadMcpPlugins(services, organization.id, ["crm:find"]);
    const [find] = mcpTools(services, loaded);
    expect(find).toMatchObject({ name: "crm:find", description: "Does find", inputSchema });
    expect(find).toMatchObject({ effect: "external", seesSecrets: true });
    expect(() => find?.validate({})).toThrow('"name"');
    const context = toolContext();
    expect(await find?.execute({ name: "Ada" }, context)).toEqual({ called: "find", args: { name: "Ada" } });
    expect(loaded.flatMap(mcpSecrets)).toEqual(expect.arrayContaining([`Bearer ${canary}`, canary]));
    const { tools } = await (await h.request("/api/tools", { headers: await h.as("owner") })).json();
    expect(tools).toContainEqual(expect.objectContaining({ name: "crm:find", category: "crm", origin: "mcp" }));
  });

  test("are loaded where an agent has them, with the secrets of all servers", async () => {
    const { h, put, say } = await withServers();
    const names = ["find", "make", 'a "name", {odd}'];
    say.tools = async () => names.map(tool);
    await pluginOf(put("crm", { kind: "mcp", transport: http }));
    await pluginOf(put("erp", { kind: "mcp", transport: { ...http, headers: { Token: `${canary}2` } } }));
    const { services, organization } = h;
    const loaded = await loadMcpPlugins(services, organization.id, [
      "httpRequest",
      ...names.map((one) => `crm:${one}`),
    ]);
    const shown = loaded.map(({ namespace, tools }) => [namespace, tools.map(({ name }) => name)]);
    expect(Object.fromEntries(shown)).toEqual({ crm: names, erp: [] });
    expect(loaded.flatMap(mcpSecrets)).toEqual(expect.arrayContaining([canary, `${canary}2`]));
    const [one] = await loadMcpPlugins(services, organization.id, ["crm:make", "make", ":find"]);
    expect(one?.tools).toEqual([{ ...tool("make"), inputSchema: { type: "object", properties: {} } }]);
  });
});

describe("over real processes", () => {
  test("the reference server's tools are listed and called", async () => {
    const h = await harness({ mcp: connections().mcp, allowStdioMcp: true });
    const headers = await h.as("owner");
    const json = { kind: "mcp", transport: reference("everything") };
    const plugin = await pluginOf(h.request(`${base}/everything`, { method: "PUT", headers, json }));
    expect(plugin).toMatchObject({ status: "connected", lastError: null });
    expect(plugin.tools.map(({ name }: { name: string }) => name)).toContain("echo");
    const { services, organization } = h;
    const loaded = await loadMcpPlugins(services, organization.id, ["everything:echo"]);
    const echo = mcpTools(services, loaded).find(({ name }) => name === "everything:echo");
    expect(() => echo?.validate({})).toThrow("message");
    const context = toolContext();
    expect(await echo?.execute({ message: "hi" }, context)).toBe("Echo: hi");
  });

  test("credentials are in no answer, log, audit entry or column", async () => {
    const { mcp, logs } = connections();
    const h = await harness({ mcp, allowStdioMcp: true });
    const headers = await h.as("owner");
    const answers: string[] = [];
    const put = async (namespace: string, transport: unknown) => {
      const init = { method: "PUT", headers, json: { kind: "mcp", transport } };
      answers.push(await (await h.request(`${base}/${namespace}`, init)).text());
    };
    await put("crash", behaving("crash"));
    await put("chatty", behaving("chatty"));
    await put("local", { ...http, url: `http://localhost:1/mcp?token=${canary}` });
    await put("odd", { ...http, headers: { "X-Key": `${canary}\n` } });
    await put("mask", { ...http, headers: { Authorization: "••••" } });
    answers.push(await (await h.request(base, { headers })).text());
    answers.push(await (await h.request("/api/audit-logs", { headers })).text());
    expect(answers[0]).toContain("no access with [secret]");
    expect(answers[2]).toContain("may add localhost:1 to the policy httpAllowedHosts");
    const { db } = h.services.database;
    const stored = await db.select().from(plugins).where(eq(plugins.organizationId, h.organization.id));
    expect(stored).toHaveLength(3);
    const everything = [...logs, ...h.logs, JSON.stringify([stored, await entries(h)])];
    for (const text of everything) expect(text).not.toContain(canary);
    // The address is shown to callers who may set it, with its parameters.
    for (const text of answers) expect(text.replaceAll(`?token=${canary}`, "")).not.toContain(canary);
  });
});
