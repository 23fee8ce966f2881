import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AgentEngine, createAgentEngine } from "../../src/client/index.ts";
import { chat } from "../runtime/program.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight, signIn } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };
const orgSlug = "default";
const slug = "assistant";

/** Gives an agent content on each of its pages. */
async function furnish(engine: AgentEngine): Promise<void> {
  const { workspaces } = await engine.listWorkspaces({ orgSlug });
  const workspaceId = workspaces[0]?.id ?? "";
  const skill = { name: "Weather", description: "Looks up the weather.", content: "Ask for the place." };
  const requiredEnv = [{ name: "TOKEN", sensitive: true }];
  const { slug: name } = await engine.createSkill({ orgSlug, body: { ...skill, requiredEnv } });
  await engine.updateSkill({ orgSlug, name, body: { ...skill, content: "Ask for the day.", requiredEnv } });
  await engine.allowSkill({ orgSlug, workspaceId, name });
  await engine.setAgentSkills({ slug, body: { enabled: [name] } });
  await engine.putAgentTools({ slug, body: { enabled: ["currentTime"], needsApproval: ["currentTime"] } });
  await engine.createHook({ slug, body: { event: "response_sent", actionConfig: { toolName: "currentTime" } } });
  const schedule = { type: "interval", everyMs: 3_600_000 } as const;
  await engine.createScheduledTask({ slug, body: { name: "Report", prompt: "Report.", schedule } });
  await engine.setRoom({ slug, body: { enabled: true } });
  const { id } = await engine.createEventSource({ slug, body: { name: "Shop", sourceType: "shop" } });
  await engine.createEventDefinition({ slug, id, body: { name: "All", matchingPrompt: "Any", action: "backlog" } });
  await engine.createMemory({ body: { instanceId: slug, content: "Prefers tea." } });
  await engine.putAgentChannel({
    slug,
    type: "telegram",
    body: { enabled: false, config: { botToken: "123456789:AAExampleToken-of_a_bot0123456789abc" } },
  });
}

/** Buttons that change nothing, or concern only the person. */
const harmless =
  /^(Copy|Preview|New conversation|Copy as curl|Why this answer|Find|Menu|Close the menu|Appearance|Sign out|Pause|Go on \(|Check again|Runs|curl|TypeScript|Python|Open$|Newer|Older|Earlier|Later|Send|Change the password|Download|Today|\d+ days|Sign out everywhere else|Leave|Clear|Show|Day by day|This month|Last month|Other days|Export)/;

/** The buttons of the page that can be pressed and might change something. */
async function temptations(page: Page): Promise<string[]> {
  const names = await page
    .locator("main button:enabled:visible")
    .evaluateAll((buttons) => buttons.map((button) => button.getAttribute("aria-label") ?? button.textContent ?? ""));
  return names.filter((name) => !harmless.test(name));
}

const tabs = [
  "settings",
  "prompts",
  "tools",
  "skills",
  "channels",
  "room",
  "room/sources",
  "room/events",
  "room/backlog",
];

browserTest("a viewer sees everything of the agents, and is offered nothing that would be refused", async () => {
  const server = await startServer({
    OWNER_EMAIL: owner.email,
    OWNER_PASSWORD: owner.password,
  });
  const { token } = await createAgentEngine({ baseUrl: server.url }).signIn({ body: owner });
  const engine = createAgentEngine({ baseUrl: server.url, token });
  await furnish(engine);
  const text = 'call currentTime {"timezone":"UTC"}';
  expect((await chat({ url: server.url, key: server.key, text, chatId: "c" })).status).toBe(200);
  const person = { email: "vic@example.com", password: "only looks around" };
  const added = await engine.addMember({ orgSlug, body: { ...person, roleKey: "viewer" } });
  if ("invited" in added) throw new Error("There is no such account yet");
  const { workspaces } = await engine.listWorkspaces({ orgSlug });
  const workspaceId = workspaces[0]?.id ?? "";
  await engine.assignWorkspaceMember({ orgSlug, workspaceId, userId: added.userId });

  const page = await openPage();
  const complaints = watch(page, server.url);
  await page.goto(server.url);
  await signIn(page, person);
  const links = page.getByRole("navigation", { name: "Main" }).locator(".links a");
  await links.first().waitFor();
  const sections = await links.evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).hash));
  expect(sections).not.toContain("#/keys");
  const places = [
    ...sections,
    ...["tasks", "hooks", ...tabs].map((tab) => `#/agents/${slug}/${tab}`),
    `#/agents/${slug}`,
    "#/skills/weather",
    "#/skills/weather/versions",
    `#/conversations/${encodeURIComponent(`${slug}:web:api-c`)}`,
  ];
  const found: Record<string, string[]> = {};
  for (const place of places) {
    await page.goto(`${server.url}/${place}`);
    await page.locator("main h1").waitFor();
    await expect.poll(() => page.locator("main .waiting").count()).toBe(0);
    const tempting = await temptations(page);
    if (tempting.length > 0) found[place] = tempting;
  }
  expect(found).toEqual({});
  // No request of a page was refused.
  expect(complaints).toEqual([]);

  await page.goto(`${server.url}/#/agents/${slug}/settings`);
  await page.getByText("As viewer you can read this.").waitFor();
  expect(await page.getByLabel("Name", { exact: true }).isDisabled()).toBe(true);
  await looksRight(page, "viewer-settings");
  // A forbidden tab makes no requests either.
  await page.goto(`${server.url}/#/agents/${slug}/secrets`);
  await page.getByText("It takes the permission agent.secret:read").waitFor();
  for (const [place, title] of [
    ["keys", "Management keys"],
    ["agents/~new", "New agent"],
    ["skills/~new", "New skill"],
  ]) {
    await page.goto(`${server.url}/#/${place}`);
    await page.getByRole("heading", { name: title ?? "" }).waitFor();
    await page.getByText("you can't see this page").waitFor();
  }

  // A role's new rights apply from the next page on.
  await engine.changeMemberRole({ orgSlug, userId: added.userId, body: { roleKey: "member" } });
  await page.goto(`${server.url}/#/agents/${slug}/settings`);
  await page.reload();
  await expect.poll(() => page.getByLabel("Name", { exact: true }).isDisabled()).toBe(false);
  expect(await page.getByRole("button", { name: "Delete the agent" }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await engine.changeMemberRole({ orgSlug, userId: added.userId, body: { roleKey: "admin" } });
  await page.reload();
  await page.getByRole("link", { name: "Secrets" }).waitFor();
  await engine.changeMemberRole({ orgSlug, userId: added.userId, body: { roleKey: "viewer" } });
  await page.getByRole("link", { name: "Secrets" }).click();
  await page.getByRole("alert").getByText("Missing permission: agent.secret:read").waitFor();
  // Without the permission, trying again is not offered.
  expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  // The answer to the person's action shows it: then forbidden controls disappear, without a reload.
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Delete the agent" }).waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Desk");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Missing permission: agent:write").waitFor();
  await page.getByText("is viewer now.").waitFor();
  await page.getByText("As viewer you can read this.").waitFor();
  expect(await page.getByLabel("Name", { exact: true }).isDisabled()).toBe(true);
  expect(await page.getByRole("button", { name: "Delete the agent" }).count()).toBe(0);
  await engine.endMemberSessions({ orgSlug, userId: added.userId });
  await page.goto(`${server.url}/#/memories`);
  await page.getByRole("heading", { name: "Sign in to Agent Engine" }).waitFor();
});
