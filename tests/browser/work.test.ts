import { expect, test } from "vitest";
import { createAgentEngine } from "../../src/client/index.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight, signIn } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);

browserTest("a call waits in the inbox of approvals, is decided there, and is read in its conversation", async () => {
  const password = "correct horse battery";
  const server = await startServer({
    OWNER_EMAIL: "ada@example.com",
    OWNER_PASSWORD: password,
  });
  const page = await openPage();
  const complaints = watch(page, server.url);
  await page.goto(`${server.url}/#/approvals`);
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  // The address that was opened is kept through the sign-in.
  await page.getByRole("heading", { name: "Nothing waits" }).waitFor();
  await looksRight(page, "approvals-none");

  await page.goto(`${server.url}/#/agents/assistant/tools`);
  await page.getByLabel("Tell the time", { exact: true }).check();
  await page.getByLabel("Ask before each call of currentTime").check();
  await page.locator("summary", { hasText: "GitHub" }).click();
  await page.getByLabel("Create issue", { exact: true }).check();
  await looksRight(page, "tools");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(/^Missing: .* Until then/).waitFor();
  // A plugin's default approval applies, though another tool's was changed.
  await expect.poll(() => page.getByLabel("Ask before each call of github:createIssue").isChecked()).toBe(true);
  expect(await page.getByLabel("Ask before each call of currentTime").isChecked()).toBe(true);
  const token = "github_pat_of_the_browser_test";
  await page.getByLabel(/token/i).fill(token);
  await page.getByRole("button", { name: "Store" }).click();
  await page.getByText("All there.").waitFor();
  expect(await page.content()).not.toContain(token);
  await page.goto(`${server.url}/#/agents/assistant`);
  await page.getByLabel("Message to assistant").fill('call currentTime {"timezone":"Europe/Zurich"}');
  await page.keyboard.press("Enter");
  await page.getByText("waits for you").waitFor();
  await looksRight(page, "playground-approval");

  await page.getByRole("link", { name: "Approvals" }).click();
  await page.getByRole("heading", { name: "currentTime" }).waitFor();
  expect(await page.getByRole("region", { name: "Arguments" }).textContent()).toContain("Europe/Zurich");
  await looksRight(page, "approvals");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("heading", { name: "Nothing waits" }).waitFor();

  await page.getByRole("link", { name: "Conversations" }).click();
  await page.getByLabel("Search").fill("no such words");
  await page.getByRole("heading", { name: "Nothing was found" }).waitFor();
  await page.getByLabel("Search").fill("currentTime");
  await page.getByRole("row").nth(1).locator(".snippet mark", { hasText: "currentTime" }).first().waitFor();
  await page.getByLabel("Channel").selectOption({ label: "Telegram" });
  await page.getByRole("heading", { name: "Nothing was found" }).waitFor();
  await page.goBack();
  await page.getByRole("row").nth(1).waitFor();
  await looksRight(page, "conversations");
  // The text typed meanwhile adds no page to the history.
  await page.goBack();
  await page.getByRole("heading", { name: "Nothing waits" }).waitFor();
  await page.goForward();
  await page.getByRole("row").nth(1).getByRole("link").click();
  // The call was made once it was approved.
  await expect
    .poll(async () => {
      await page.reload();
      await page.locator(".reply").first().waitFor();
      return page.getByText("done", { exact: true }).count();
    })
    .toBeGreaterThan(0);
  await page
    .locator(".speaker", { hasText: /^Operator/ })
    .locator("time")
    .waitFor();
  await page
    .locator(".answer .speaker", { hasText: /^assistant/ })
    .first()
    .waitFor();
  await looksRight(page, "conversation");

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete the conversation" }).click();
  await page
    .getByRole("heading", { name: "Nothing was found" })
    .or(page.getByRole("heading", { name: "No conversations yet" }))
    .waitFor();
  expect(complaints).toEqual([]);

  // An ended session is noticed at the next action, and the page is still there after the sign-in.
  await page.goto(`${server.url}/#/agents/assistant/channels`);
  await page.getByRole("button", { name: "New key" }).click();
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Give a new key" }).click();
  await page.getByRole("heading", { name: "Sign in to Agent Engine" }).waitFor();
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  await page.getByText("Chat-completions API").waitFor();
});

browserTest("one agent of many is found by words, and opens beside the list where that is wanted", async () => {
  const owner = { email: "ada@example.com", password: "correct horse battery" };
  const server = await startServer({
    OWNER_EMAIL: owner.email,
    OWNER_PASSWORD: owner.password,
  });
  const { token } = await createAgentEngine({ baseUrl: server.url }).signIn({ body: owner });
  const api = createAgentEngine({ baseUrl: server.url, token });
  for (let number = 1; number <= 8; number += 1) {
    await api.createAgent({ body: { slug: `desk-${number}`, name: `Help ${number}` } });
  }
  await api.createAgent({ body: { slug: "first", name: "A desk to help 5" } });
  const page = await openPage();
  const complaints = watch(page, server.url);
  await page.goto(`${server.url}/#/agents`);
  await signIn(page, owner);

  // On a phone the menu covers the page, and returns the focus to where it was opened.
  await page.setViewportSize({ width: 390, height: 800 });
  const menu = page.getByRole("button", { name: "Menu", exact: true });
  await menu.click();
  await page.getByRole("link", { name: "Members" }).focus();
  await page.keyboard.press("Escape");
  await menu.and(page.locator(":focus")).waitFor();
  await menu.click();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Agents" }).click();
  await page.locator("[data-menu=closed]").waitFor();
  await page.setViewportSize({ width: 1440, height: 900 });

  await page.getByLabel("Search").fill("desk-3 HELP");
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  const beside = page.context().waitForEvent("page");
  await page.getByRole("link", { name: "Help 3" }).click({ modifiers: ["Control"] });
  await (await beside).close();
  await page.getByText("desk-3").waitFor();
  expect(page.url()).toMatch(/#\/agents$/);
  await page.getByLabel("Search").fill("nobody");
  await page.getByText("No agent has these words").waitFor();

  // Entries that begin with the words are first.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("help 5");
  await expect.poll(() => page.getByRole("option").first().textContent()).toContain("Help 5");
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await page.getByLabel("Name of a page or an agent").fill("set desk-5");
  await page.getByRole("option", { name: "Help 5: settings" }).waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toMatch(/#\/agents\/desk-5\/settings$/);

  // Another person's change since the page was read is kept.
  const slug = "desk-5";
  await page.goto(`${server.url}/#/agents/${slug}/tools`);
  await page.getByLabel("Plan tasks", { exact: true }).check();
  await page.getByLabel("Ask before each call of scheduleTask").check();
  await api.putAgentTools({ slug, body: { enabled: ["currentTime"], needsApproval: ["currentTime"] } });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const { tools } = await api.listAgentTools({ slug });
  const chosen = tools.flatMap(({ name, enabled, needsApproval }) => (enabled ? [[name, needsApproval]] : []));
  expect(Object.fromEntries(chosen)).toEqual({ currentTime: true, scheduleTask: true });

  const orgSlug = "default";
  const { workspaces } = await api.listWorkspaces({ orgSlug });
  for (const name of ["Rain", "Tea"]) {
    const skill = await api.createSkill({ orgSlug, body: { name, description: "Looks.", content: "Look." } });
    await api.allowSkill({ orgSlug, workspaceId: workspaces[0]?.id ?? "", name: skill.slug });
  }
  await page.goto(`${server.url}/#/agents/${slug}/skills`);
  const turnOn = page.getByRole("region", { name: "Rain" }).getByRole("button", { name: "Turn on" });
  await turnOn.waitFor();
  await api.setAgentSkills({ slug, body: { enabled: ["tea"] } });
  await turnOn.click();
  await page.getByText("Rain is on").waitFor();
  const { skills } = await api.listAgentSkills({ slug });
  expect(skills.filter(({ enabled }) => enabled).map(({ name }) => name)).toEqual(["rain", "tea"]);
  expect(complaints).toEqual([]);
});
