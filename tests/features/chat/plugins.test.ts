import { expect, test } from "vitest";
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
