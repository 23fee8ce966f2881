import { expect, test } from "vitest";
import type { Mcp } from "../../../src/core/ports.ts";
import { plugins } from "../../../src/db/schema.ts";
import { connections, reference } from "../../node/mcp-servers.ts";
import { finish, reply, scriptedModel, toolCall } from "../../scripted-model.ts";
import { chatHarness } from "./chat.ts";

test("an agent calls a tool of its organization's MCP server, and a credential that it answers is blotted out", async () => {
  const canary = "canary-of-the-mcp-server";
  const model = scriptedModel([
    { parts: [...toolCall("c1", "every__echo", { message: `hello ${canary}` }), finish("tool-calls")] },
    reply("Echoed."),
  ]);
  const { mcp, logs } = connections();
  const h = await chatHarness(model, {}, { allowStdioMcp: true, mcp });
  const { headers, slug } = h.agent;
  const put = await h.request(`/api/organizations/${h.organization.slug}/plugins/every`, {
    method: "PUT",
    headers,
    json: { kind: "mcp", transport: reference("everything", { TOKEN: canary }) },
  });
  expect(await put.json()).toMatchObject({ plugin: { status: "connected" } });
  const json = { enabled: ["every:echo"] };
  expect((await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json })).status).toBe(200);

  const streamed = await (await h.native("Echo", { chat_id: "c" })).text();
  expect(model.calls[0]?.options.tools?.map(({ name }) => name)).toEqual(["every__echo"]);
  expect(streamed).toContain('"name":"every:echo"');
  expect(streamed).toContain("hello [secret]");
  expect(JSON.stringify([streamed, await h.stored(), model.calls[1]?.prompt, h.logs, logs])).not.toContain(canary);
});

test.each([
  true,
  false,
])("a process that may not be started any more has no tools anywhere (stored by this release: %s)", async (fresh) => {
  const model = scriptedModel(() => reply("Done."));
  const listed = [{ name: "find", description: "Finds.", inputSchema: { type: "object" as const } }];
  let called = 0;
  const mcp: Mcp = {
    list: async () => listed,
    call: async () => {
      called += 1;
      return "found";
    },
    forget: () => {},
    close: async () => {},
  };
  const h = await chatHarness(model, {}, { allowStdioMcp: true, mcp });
  const { headers, slug } = h.agent;
  const { db } = h.services.database;
  const organization = `/api/organizations/${h.organization.slug}`;
  const send = (method: string, path: string, json?: object) =>
    h.request(path, { method, headers, ...(json ? { json } : {}) });
  const read = async (path: string) => (await send("GET", path)).json();
  const transport = { type: "stdio", command: "run", args: [], env: {} };
  expect((await send("PUT", `${organization}/plugins/crm`, { kind: "mcp", transport })).status).toBe(200);
  const own = `/api/instances/${slug}`;
  expect((await send("PATCH", `${own}/tools`, { enabled: ["crm:find"] })).status).toBe(200);
  const action = { actionType: "tool", actionConfig: { toolName: "crm:find", args: {} } };
  const hook = { event: "message_received", ...action };
  expect((await send("POST", `${own}/hooks`, hook)).status).toBe(201);
  await (await h.native("Hi")).text();
  expect([called, model.calls[0]?.options.tools?.map(({ name }) => name)]).toEqual([1, ["crm__find"]]);

  h.services.options.allowStdioMcp = false;
  if (!fresh) {
    await db.update(plugins).set({ transport: null });
    await h.engine.boot({});
  }
  await send("PATCH", own, { name: "Loaded anew" });
  expect(await read(`${organization}/plugins/crm`)).toMatchObject({
    plugin: { enabled: true, status: "failed", tools: [], lastError: expect.stringContaining("ALLOW_STDIO_MCP=true") },
  });
  for (const path of ["/api/tools", `${own}/tools`, `${own}/tools/required-secrets`]) {
    expect(JSON.stringify(await read(path)), path).not.toContain("crm:find");
  }
  await (await h.native("Hi")).text();
  expect([called, model.calls[1]?.options.tools]).toEqual([1, undefined]);
  expect((await send("POST", `${own}/hooks`, hook)).status).toBe(400);
  const skill = { name: "Crm", description: "Finds.", content: "Find.", requiredTools: ["crm:find"] };
  expect((await send("POST", `${organization}/skills`, skill)).status).toBe(400);

  h.services.options.allowStdioMcp = true;
  await send("PATCH", own, { name: "Once more" });
  await (await h.native("Hi")).text();
  expect(called).toBe(2);
});
