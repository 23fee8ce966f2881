import { expect, test } from "vitest";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { type ChatHarness, chatHarness } from "../chat/chat.ts";

const withoutTime = (text: string) => text.replaceAll(/\d\d:\d\d/g, "");

async function preview(h: ChatHarness, json: object, headers: Record<string, string>, slug = h.agent.slug) {
  const response = await h.request(`/api/instances/${slug}/prompts/preview`, { method: "POST", headers, json });
  return { status: response.status, ...(await response.json()) };
}

test("the preview is the model's prompt, and drafts replace the stored sections", async () => {
  const model = scriptedModel(() => reply("Hello."));
  const h = await chatHarness(model, { name: "Tea", description: "Knows teas." });
  const headers = await h.as("owner");
  const { slug } = h.agent;
  const skill = { name: "steeping", description: "How long teas steep.", content: "Green tea: 2 minutes." };
  const organization = `/api/organizations/${h.organization.slug}`;
  await h.request(`${organization}/skills`, { method: "POST", headers, json: skill });
  const allowed = `${organization}/workspaces/${h.organization.workspaceId}/skills/steeping`;
  await h.request(allowed, { method: "PUT", headers });
  await h.request(`/api/instances/${slug}/skills`, { method: "PATCH", headers, json: { enabled: ["steeping"] } });
  const sections = [{ key: "02-soul", content: "Be brief, {{userName}}: {{memories}}" }];
  const drafted = await preview(h, { sections }, headers);
  expect(drafted.prompt).toContain("Be brief, ");
  expect(drafted.prompt).toContain("- steeping: How long teas steep.");
  expect((await preview(h, {}, headers)).prompt).not.toContain("Be brief");

  await h.request(`/api/instances/${slug}/prompts`, { method: "PATCH", headers, json: { sections } });
  const stored = await preview(h, {}, headers);
  expect(withoutTime(stored.prompt)).toBe(withoutTime(drafted.prompt));
  const json = { messages: [{ role: "user", content: "Hi" }] };
  await (await h.request(`/api/instances/${slug}/playground/stream`, { method: "POST", headers, json })).text();
  const [call] = model.calls;
  expect(withoutTime(String(call?.prompt[0]?.content))).toBe(withoutTime(stored.prompt));
  // A draft without a section uses the engine's own text there.
  const reset = await preview(h, { sections: [{ key: "02-soul", content: null }] }, headers);
  expect(reset.prompt).not.toContain("Be brief");
});

test("people read the preview of agents within their reach, and no others do", async () => {
  const h = await chatHarness(scriptedModel(() => reply("Hello.")));
  expect((await preview(h, {}, await h.as("viewer"))).status).toBe(200);
  const stranger = await h.as("owner", { organization: await h.createOrganization("globex") });
  expect((await preview(h, {}, stranger)).status).toBe(404);
  expect((await preview(h, {}, {})).status).toBe(401);
  const twice = [1, 2].map(() => ({ key: "02-soul", content: "x" }));
  expect((await preview(h, { sections: twice }, await h.as("owner"))).status).toBe(400);
});
