import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createAgentEngine } from "../../src/client/index.ts";
import { chat, shared } from "../runtime/program.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight, signIn, tabTo } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };

const server = shared(() =>
  startServer({ EDITION: "managed", OWNER_EMAIL: owner.email, OWNER_PASSWORD: owner.password }),
);

/** Opens a page of the panel as the owner. */
async function openAs(path: string, heading: string): Promise<{ page: Page; complaints: string[] }> {
  const { url } = server();
  const page = await openPage();
  const complaints = watch(page, url);
  await page.goto(`${url}/#/${path}`);
  await signIn(page, owner);
  await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
  return { page, complaints };
}

browserTest("an owner turns an installed plugin off, by keyboard", async () => {
  const { page, complaints } = await openAs("plugins", "Plugins");
  const installed = page.getByRole("region", { name: "Installed plugins" });
  const box = installed.getByLabel("github", { exact: true });
  await box.waitFor();
  await looksRight(page, "managed-plugins");
  await tabTo(page, /^github$/);
  await page.keyboard.press("Space");
  await page.getByText("Agents can't use github any more").waitFor();
  const tools = async () => {
    const { tools } = await page.evaluate(async () => (await fetch("/api/tools")).json());
    return (tools as { name: string }[]).filter(({ name }) => name.startsWith("github:")).length;
  };
  expect(await tools()).toBe(0);
  await page.reload();
  await box.waitFor();
  expect(await box.isChecked()).toBe(false);
  await box.check();
  await page.getByText("Agents can use github now").waitFor();
  expect(await tools()).toBeGreaterThan(0);
  expect(complaints).toEqual([]);
});

browserTest("an owner counts what retention would delete, and turns it on", async () => {
  const { page, complaints } = await openAs("retention", "Retention");
  const { url } = server();
  await page.getByRole("button", { name: "Count" }).click();
  await page.getByText("Verdicts of gates", { exact: true }).waitFor();
  await looksRight(page, "managed-retention");
  await page.getByLabel("Delete old conversations").check();
  const days = page.getByLabel("Conversations: days");
  await days.fill("0");
  await page.keyboard.press("Enter");
  await page.getByText("Conversations: days: must be 1 to 3650").waitFor();
  await days.fill("30");
  await page.keyboard.press("Enter");
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.getByText("Next deletion in 24 hours").or(page.getByText("Next deletion tomorrow")).waitFor();
  await page.goto(`${url}/#/retention`);
  await page.reload();
  await expect.poll(() => days.inputValue()).toBe("30");
  expect(complaints.filter((text) => !/400 \(/.test(text))).toEqual([]);
});

browserTest("a Platform Admin opens an organization of other people, from the menu and by keyboard", async () => {
  const { url } = server();
  const engine = createAgentEngine({ baseUrl: url });
  const as = async (email: string, password: string) =>
    createAgentEngine({ baseUrl: url, token: (await engine.signIn({ body: { email, password } })).token });
  const bob = { email: "bob@example.com", password: "given by an admin" };
  const admin = await as(owner.email, owner.password);
  await admin.addMember({ orgSlug: "default", body: { ...bob, roleKey: "member" } });
  const chosen = { currentPassword: bob.password, newPassword: "chosen by the holder" };
  await (await as(bob.email, bob.password)).changePassword({ body: chosen });
  await admin.createOrganization({ body: { slug: "harbour", name: "Harbour", ownerEmail: bob.email } });

  const { page, complaints } = await openAs("members", "Members");
  // The page reads the members of each workspace after the workspaces: it must not ask for them in another organization.
  await page.getByRole("row", { name: /bob/ }).waitFor();
  await page.getByLabel("Organization").selectOption("harbour");
  // The organization's first page opens once it is chosen.
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await page.getByRole("link", { name: "Workspaces" }).click();
  await page.getByRole("region", { name: "default" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("default");
  await page.getByRole("option", { name: "default Organization" }).waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByLabel("Organization").inputValue()).toBe("default");
  expect(complaints).toEqual([]);
});

browserTest("a Platform Admin makes, changes, finds and deletes a user, by keyboard", async () => {
  const { page, complaints } = await openAs("users", "Users");
  await page.getByRole("row", { name: /Platform Admin/ }).waitFor();
  await tabTo(page, /^New user$/);
  await page.keyboard.press("Enter");
  const create = page.getByRole("dialog", { name: "New user" });
  await create.getByLabel("E-mail").fill("grace@example.com");
  await create.getByLabel("Password").fill("short");
  await looksRight(page, "managed-new-user");
  await create.getByLabel("Password").fill("given by an admin");
  await page.keyboard.press("Enter");
  const row = page.getByRole("row", { name: /grace@example\.com/ });
  await row.getByText("none", { exact: true }).waitFor();
  await looksRight(page, "managed-users");

  await row.getByRole("button", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "grace" });
  await edit.getByLabel("Name").fill("Grace Hopper");
  await edit.getByLabel("May sign in").uncheck();
  await page.keyboard.press("Enter");
  await row.getByText("inactive").waitFor();
  expect(await row.getByRole("button", { name: "See as" }).count()).toBe(0);
  await row.getByRole("button", { name: "New password" }).click();
  await page.getByLabel("New password", { exact: true }).fill("another by an admin");
  await page.keyboard.press("Enter");
  await page.getByText("Grace Hopper has a new password").waitFor();

  await page.getByLabel("Search").fill("HOPPER");
  await page.getByRole("row", { name: /ada@example\.com/ }).waitFor({ state: "detached" });
  await row.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete the user" }).click();
  await page.getByText("Nobody was found").waitFor();
  expect(complaints).toEqual([]);
});

browserTest("a Platform Admin sees in one tab what a member sees, under a bar on every page", async () => {
  const { url } = server();
  const engine = createAgentEngine({ baseUrl: url });
  const { token } = await engine.signIn({ body: owner });
  const eve = { email: "eve@example.com", name: "Eve", password: "given by an admin" };
  await createAgentEngine({ baseUrl: url, token }).addMember({
    orgSlug: "default",
    body: { ...eve, roleKey: "member" },
  });

  const { page, complaints } = await openAs("users", "Users");
  const other = await page.context().newPage();
  await other.goto(`${url}/#/users`);
  await other.getByRole("heading", { name: "Users", level: 1 }).waitFor();
  const row = page.getByRole("row", { name: /eve@example\.com/ });
  await row.getByRole("button", { name: "See as" }).click();
  const dialog = page.getByRole("dialog", { name: "See what Eve sees" });
  await dialog.getByLabel("Reason").fill("Ticket 4711: agents are missing");
  await looksRight(page, "managed-impersonate");
  await dialog.getByRole("button", { name: "Begin" }).click();
  const bar = page.getByRole("region", { name: "Impersonation" });
  await bar.getByText("Eve (eve@example.com)").waitFor();
  await bar.getByText(/for \d+ more minutes/).waitFor();
  expect(await page.getByRole("link", { name: "Users" }).count()).toBe(0);
  for (const place of ["agents", "members", "account"]) {
    await page.goto(`${url}/#/${place}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await looksRight(page, `managed-impersonation-${place}`);
  }
  await page.getByRole("textbox", { name: "Name" }).fill("Mallory");
  await page.keyboard.press("Enter");
  await page.getByText("Impersonation is read-only").first().waitFor();
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  expect(await bar.boundingBox()).toMatchObject({ x: 0, y: 0 });

  // The tab keeps it over a reload; another tab stays the admin's.
  await page.reload();
  await bar.waitFor();
  expect(await other.getByRole("link", { name: "Users" }).count()).toBe(1);
  expect(await other.getByRole("region", { name: "Impersonation" }).count()).toBe(0);
  const stored = await page.evaluate(() => sessionStorage.getItem("agent-engine.impersonation"));
  expect(stored).toContain("aei_");

  await tabTo(page, /^Stop$/);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Users", level: 1 }).waitFor();
  await page.getByText("You don't see what Eve sees any more.").waitFor();
  expect(await page.evaluate(() => sessionStorage.getItem("agent-engine.impersonation"))).toBeNull();

  // An impersonation whose time is over gives the admin's view back.
  await page.evaluate((ended) => sessionStorage.setItem("agent-engine.impersonation", ended ?? ""), stored);
  await page.reload();
  await page.getByRole("heading", { name: "Users", level: 1 }).waitFor();
  expect(await bar.count()).toBe(0);
  expect(complaints.filter((complaint) => !/40[13]/.test(complaint))).toEqual([]);
});

browserTest("an owner erases a person, after typing the id, by keyboard", async () => {
  const { page, complaints } = await openAs("erasures", "Erasure");
  await page.getByLabel("Person", { exact: true }).fill("user-42");
  await looksRight(page, "managed-erasures");
  await page.getByLabel("Person", { exact: true }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Erase user-42?" });
  await dialog.waitFor();
  const act = dialog.getByRole("button", { name: "Erase the person" });
  expect(await act.isDisabled()).toBe(true);
  await looksRight(page, "managed-erasure-dialog");
  await dialog.getByLabel("Type user-42 to go on").fill("user-42");
  await tabTo(page, /^Erase the person$/);
  await page.keyboard.press("Enter");
  await page.getByText(/The erasure .+ has begun/).waitFor();
  await dialog.waitFor({ state: "detached" });
  expect(await page.getByLabel("Person", { exact: true }).inputValue()).toBe("");
  expect(complaints).toEqual([]);
});

browserTest("an owner deletes an organization, after typing its slug, by keyboard", async () => {
  const { page, complaints } = await openAs("organization", "Organization");
  const further = page.getByRole("region", { name: "A further organization" });
  await further.getByLabel("Its name in addresses").fill("bay");
  await page.keyboard.press("Enter");
  const menu = page.getByLabel("Organization", { exact: true });
  await expect.poll(() => menu.inputValue()).toBe("bay");
  await looksRight(page, "managed-organization");
  await tabTo(page, /^Delete$/);
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Delete bay?" });
  const act = dialog.getByRole("button", { name: "Delete the organization" });
  await dialog.waitFor();
  expect(await act.isDisabled()).toBe(true);
  await looksRight(page, "managed-organization-deletion");
  await dialog.getByLabel("Type bay to go on").fill("bay");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("bay is deleted").waitFor();
  await dialog.waitFor({ state: "detached" });
  const listed = () => page.evaluate(async () => (await fetch("/api/organizations")).json());
  expect((await listed()).organizations.map(({ slug }: { slug: string }) => slug)).not.toContain("bay");
  expect(complaints).toEqual([]);
});

browserTest(
  "an owner makes a role, reads it in the matrix, gives it to a member and takes it back, by keyboard",
  async () => {
    const { page, complaints } = await openAs("roles", "Roles");
    const { url } = server();
    await tabTo(page, /^New role$/);
    await page.keyboard.press("Enter");
    const create = page.getByRole("dialog", { name: "New role" });
    await create.getByLabel("Name").fill("Auditor");
    await create.getByLabel("Key").fill("auditor");
    await create.getByLabel("org:read", { exact: true }).check();
    expect(await create.getByLabel("org:write", { exact: true }).count()).toBe(0);
    await tabTo(page, /^audit_log:read$/);
    await page.keyboard.press("Space");
    await looksRight(page, "managed-new-role");
    await create.getByRole("button", { name: "Create" }).press("Enter");
    await page
      .getByRole("table", { name: "Own roles" })
      .getByRole("row", { name: /Auditor/ })
      .waitFor();

    const matrix = page.getByRole("region", { name: "Permissions by role" });
    const cellsOf = async (permission: string) =>
      matrix
        .getByRole("row", { name: permission })
        .getByRole("img")
        .evaluateAll((marks) => marks.map((mark) => mark.ariaLabel));
    expect(await cellsOf("audit_log:read")).toEqual(["yes", "yes", "no", "no", "yes"]);
    await looksRight(page, "managed-roles");
    await tabTo(page, /^Permissions by role$/);
    await page.keyboard.press("End");
    await expect.poll(() => matrix.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0);
    const head = matrix.getByRole("columnheader", { name: "Auditor" });
    const above = async () => ((await head.boundingBox())?.y ?? 0) - ((await matrix.boundingBox())?.y ?? 0);
    expect(await above()).toBeLessThan(5);
    await page.setViewportSize({ width: 390, height: 900 });
    await page.getByLabel("Role", { exact: true }).selectOption("Auditor");
    expect(await cellsOf("audit_log:read")).toEqual(["yes"]);
    expect(await cellsOf("agent:read")).toEqual(["no"]);
    await page.setViewportSize({ width: 1440, height: 900 });

    await page.goto(`${url}/#/members`);
    await page.getByRole("button", { name: "Add a person" }).click();
    const add = page.getByRole("dialog", { name: "Add a person" });
    await add.getByLabel("E-mail").fill("hal@example.com");
    await add.getByLabel("Role").selectOption("Auditor");
    await add.getByRole("button", { name: "Add" }).press("Enter");
    await page.getByRole("button", { name: "Done" }).click();
    const role = page.getByLabel("Role of hal");
    expect(await role.inputValue()).toBe("auditor");
    await page.goto(`${url}/#/roles`);
    const row = page.getByRole("row", { name: /Auditor/ }).first();
    await row.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the role" }).click();
    await page.getByText("The role is held by 1 members").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.goto(`${url}/#/members`);
    await role.selectOption("Viewer");
    await page.getByText("hal is Viewer now").waitFor();
    await page.goto(`${url}/#/roles`);
    await row.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Reaches every workspace").check();
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await row.getByText("all", { exact: true }).waitFor();
    await row.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the role" }).click();
    await row.waitFor({ state: "detached" });
    expect(complaints.filter((text) => !/409/.test(text))).toEqual([]);
  },
);

browserTest("a person makes a token for a program, narrows it, and deletes it", async () => {
  const { page, complaints } = await openAs("account", "Your account");
  const { url } = server();
  const tokens = page.getByRole("region", { name: "Tokens" });
  await tabTo(page, /^New token$/);
  await page.keyboard.press("Enter");
  const create = page.getByRole("dialog", { name: "New token" });
  await create.getByLabel("Name").fill("Nightly export");
  await create.getByLabel("Only some permissions").check();
  await create.getByLabel("agent:read", { exact: true }).check();
  await looksRight(page, "managed-new-token");
  await create.getByRole("button", { name: "Create" }).press("Enter");
  const made = page.getByRole("dialog", { name: "The token Nightly export" });
  const token = await made.getByText(/^aep_/).first().innerText();
  const status = async (path: string) =>
    (await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } })).status;
  expect([await status("/api/instances"), await status("/api/organizations/default/members")]).toEqual([200, 403]);
  await made.getByRole("button", { name: "Done" }).click();
  await tokens.getByRole("row", { name: /Nightly export/ }).waitFor();
  await looksRight(page, "managed-tokens");
  await tokens.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete the token" }).click();
  await tokens.getByRole("row", { name: /Nightly export/ }).waitFor({ state: "detached" });
  expect(await status("/api/instances")).toBe(401);
  expect(complaints).toEqual([]);
});

browserTest("an owner sets prices, by keyboard, and sees what turns cost", async () => {
  const { page, complaints } = await openAs("prices", "Prices");
  const { url, key } = server();
  const listed = page.getByRole("table", { name: "List prices" });
  await listed.getByRole("row", { name: /openai:gpt-5-mini/ }).waitFor();
  await tabTo(page, /^New price$/);
  await page.keyboard.press("Enter");
  const create = page.getByRole("dialog", { name: "New price" });
  await create.getByLabel("Model").fill("gpt-5*");
  await create.getByLabel("Input", { exact: true }).fill("0.0000001");
  await create.getByLabel("Output").fill("2");
  await create.getByLabel("Currency").fill("Euro");
  expect(await create.getByLabel("Currency").inputValue()).toBe("Eur");
  await page.keyboard.press("Enter");
  await create.getByText("Input: must have at most 6 decimals").waitFor();
  await create.getByText("must be three capital letters, such as USD", { exact: true }).waitFor();
  await looksRight(page, "managed-new-price");
  await create.getByLabel("Input", { exact: true }).fill("0.25");
  await create.getByLabel("Currency").fill("EUR");
  await page.keyboard.press("Enter");
  const own = page.getByRole("table", { name: "Own prices" });
  await own.getByRole("row", { name: /openai:gpt-5\* €0\.25 as input as input €2\.00/ }).waitFor();
  await page.getByText("None is in force, since the own prices are in EUR.").waitFor();
  // In EUR the demo model has no price yet, so the cost of this turn stays unknown.
  const chatId = "cost-of-turns";
  expect((await chat({ url, key, text: "Unknown", chatId })).status).toBe(200);

  await listed.getByRole("row", { name: /demo:/ }).getByRole("button", { name: "Set own price" }).press("Enter");
  const demo = page.getByRole("dialog", { name: "Price of demo:*" });
  await demo.getByLabel("Input", { exact: true }).fill("100");
  await demo.getByLabel("Output").fill("100");
  await page.keyboard.press("Enter");
  await own.getByRole("row", { name: /demo:\*/ }).waitFor();
  await looksRight(page, "managed-prices");

  await page.getByRole("button", { name: "New price" }).press("Enter");
  await create.getByLabel("Model").fill("gpt-5*");
  await create.getByLabel("Input", { exact: true }).fill("1");
  await create.getByLabel("Output").fill("1");
  await page.keyboard.press("Enter");
  await create.getByText("Model: must have one price of a provider").waitFor();
  await create.getByRole("button", { name: "Cancel" }).press("Enter");
  const gpt = own.getByRole("row", { name: /openai:gpt-5/ });
  for (const [currency, sign] of [
    ["CHF", "CHF"],
    ["EUR", "€"],
  ] as const) {
    await gpt.getByRole("button", { name: "Edit" }).press("Enter");
    await page.getByRole("dialog").getByLabel("Currency").fill(currency);
    await page.keyboard.press("Enter");
    await own.getByRole("row", { name: new RegExp(`demo:\\* ${sign}\\s?100\\.00`) }).waitFor();
  }
  expect((await chat({ url, key, text: "Known", chatId })).status).toBe(200);

  await page.goto(`${url}/#/agents/assistant/settings`);
  const budget = page.getByLabel("Cost of the agent");
  await budget.fill("-1");
  await budget.press("Enter");
  await page.getByText("Cost of the agent: must be at least 0").waitFor();
  await budget.fill("2.5");
  await looksRight(page, "managed-agent-budgets");
  await budget.press("Enter");
  await page.getByText("Saved", { exact: true }).waitFor();
  const { instance } = await page.evaluate(async () => (await fetch("/api/instances/assistant")).json());
  expect(instance).toMatchObject({ monthlyCostBudget: 2_500_000, userMonthlyCostBudget: null });

  await page.goto(`${url}/#/usage`);
  const byModel = page.getByRole("table", { name: "Usage by model" });
  await byModel.getByRole("row", { name: /^demo:demo .*€0\.03, unknown for \d+ turns?$/ }).waitFor();
  await tabTo(page, /^Cost$/);
  await page.keyboard.press("Enter");
  const days = page.getByRole("figure", { name: "Cost by day" });
  await days.locator("canvas").waitFor();
  await days
    .locator(".chart-legend")
    .getByText(/Cost in EUR/)
    .waitFor();
  const budgets = page.getByRole("region", { name: "Budgets in money of agents this month" });
  await budgets.getByText("€0.03 of €2.50 1%").waitFor();
  await looksRight(page, "managed-usage");
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download usage by model as CSV" }).click(),
  ]);
  expect(readFileSync(await file.path(), "utf8")).toMatch(/^demo:demo,.*,\d+,EUR,\d+\r$/m);

  await page.goto(`${url}/#/conversations`);
  await page
    .getByRole("row", { name: /Unknown/ })
    .getByRole("link")
    .click();
  const why = page.getByRole("button", { name: "Why this answer" });
  const costOf = async (index: number) => {
    await why.nth(index).click();
    const fact = page.getByRole("dialog").locator("dl > div", { hasText: /^Cost/ });
    const text = await fact.innerText();
    await page.getByRole("button", { name: "Close", exact: true }).click();
    return text.replace(/\s+/g, " ");
  };
  await why.nth(1).waitFor();
  expect(await costOf(0)).toBe("Cost unknown");
  expect(await costOf(1)).toMatch(/^Cost €0\.0\d+$/);

  await page.goto(`${url}/#/agents/assistant/settings`);
  await budget.fill("");
  await budget.press("Enter");
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.goto(`${url}/#/prices`);
  for (const name of ["demo:*", "openai:gpt-5*"]) {
    await own.getByRole("row", { name }).getByRole("button", { name: "Delete" }).press("Enter");
    await page.getByRole("button", { name: "Delete the price" }).press("Enter");
    await page.getByText(`${name} is deleted`).waitFor();
  }
  await page.getByText("The list prices below are in force.").waitFor();
  expect(complaints.filter((text) => !/400 \(/.test(text))).toEqual([]);
});

/** The API as the owner. */
async function asOwner() {
  const { url } = server();
  const { token } = await createAgentEngine({ baseUrl: url }).signIn({ body: owner });
  return createAgentEngine({ baseUrl: url, token });
}

browserTest("an owner makes, tests, changes and deletes a provider connection, by keyboard", async () => {
  const { page, complaints } = await openAs("providers", "Providers");
  await page.getByText("No connections yet").waitFor();
  await tabTo(page, /^New connection$/);
  await page.keyboard.press("Enter");
  const create = page.getByRole("dialog", { name: "New connection" });
  expect(await create.getByLabel("Name").inputValue()).toBe("OpenAI");
  await looksRight(page, "managed-new-connection");
  await create.getByLabel("Address of its API").fill("https://models.example.com/v1?key=1");
  await create.getByRole("button", { name: "Create" }).press("Enter");
  await page.getByText("Address of its API: must end with its path, without ? and #").waitFor();
  await create.getByLabel("Address of its API").fill("");
  await create.getByLabel("The organization's default").check();
  await create.getByRole("button", { name: "Create" }).press("Enter");
  const openai = page.getByRole("row", { name: /OpenAI/ });
  await openai.getByText("without key").waitFor();
  await openai.getByText("default").waitFor();
  await openai.getByRole("button", { name: "Test" }).press("Enter");
  await openai.getByText("The connection has no key").waitFor();

  await page.getByRole("button", { name: "New connection" }).click();
  await create.getByLabel("Provider").selectOption("demo");
  await create.getByLabel("Name").fill("Echo");
  await create.getByRole("button", { name: "Create" }).press("Enter");
  const echo = page.getByRole("row", { name: /Echo/ });
  await echo.getByRole("button", { name: "Test" }).click();
  await echo.getByText("Answered after 0 ms.").waitFor();

  const key = "sk-proj-0123456789abcdef85a5";
  await openai.getByRole("button", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "OpenAI" });
  await edit.getByLabel("API key").fill(key);
  await edit.getByRole("button", { name: "Save" }).press("Enter");
  await openai.getByText("usable").waitFor();
  await openai.getByText("The connection has no key").waitFor({ state: "detached" });
  await looksRight(page, "managed-providers");
  expect(await page.content()).not.toContain(key);
  await openai.getByRole("button", { name: "Edit" }).click();
  await edit.getByText("Empty: the stored one.").waitFor();
  await edit.getByLabel("The organization's default").uncheck();
  await edit.getByRole("button", { name: "Save" }).press("Enter");
  await openai.getByText("default").waitFor({ state: "detached" });

  const engine = await asOwner();
  const { connections } = await engine.listSharedConnections({ orgSlug: "default" });
  const id = connections.find(({ name }) => name === "Echo")?.id ?? "";
  expect(connections.find(({ name }) => name === "OpenAI")?.apiKeyHint).toMatch(/85a5$/);
  await engine.createAgent({ body: { slug: "bound" } });
  await engine.bindProviderRole({ slug: "bound", role: "chat", body: { connectionId: id } });
  await page.reload();
  await echo.getByText("Chat").waitFor();
  await echo.getByRole("button", { name: "Delete" }).click();
  await page.getByText("It is bound to Chat, so it can't be deleted").waitFor();
  await page.getByRole("button", { name: "Delete the connection" }).click();
  await page.getByText("The connection is bound to a role").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await engine.deleteAgent({ slug: "bound" });
  for (const row of [echo, openai]) {
    await row.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the connection" }).press("Enter");
    await row.waitFor({ state: "detached" });
  }
  await page.getByText("No connections yet").waitFor();
  expect(complaints.filter((text) => !/40[09] \(/.test(text))).toEqual([]);
});

browserTest("an owner binds an agent's chat with fallbacks, and orders them, by keyboard", async () => {
  const engine = await asOwner();
  await engine.createAgent({ body: { slug: "desk" } });
  const [first, second, third] = await Promise.all(
    ["First", "Second", "Third"].map(async (name) => {
      const body = { name, provider: "demo" } as const;
      return (await engine.createSharedConnection({ orgSlug: "default", body })).connection.id;
    }),
  );
  const { page, complaints } = await openAs("agents/desk/models", "desk");
  const chat = page.getByRole("table", { name: "Roles" }).getByRole("row", { name: /^Chat/ });
  await chat.getByText("nobody").waitFor();
  await tabTo(page, /^Change Chat$/);
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Chat" });
  const connection = dialog.getByLabel("Connection", { exact: true });
  await connection.waitFor();
  await page.keyboard.type("First");
  expect(await connection.inputValue()).toBe(first);
  for (const name of ["Second", "Third"]) {
    await tabTo(page, /^Add a fallback$/);
    await page.keyboard.press("Enter");
    await dialog.getByRole("option", { name, selected: true }).last().waitFor({ state: "attached" });
  }
  await looksRight(page, "managed-role");
  await tabTo(page, /^Move fallback 2 up$/);
  await page.keyboard.press("Enter");
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
  expect(await focused()).toBe("Move fallback 1 down");
  expect(await dialog.getByLabel("Connection of fallback 1").inputValue()).toBe(third);
  await page.keyboard.press("Enter");
  expect(await focused()).toBe("Move fallback 2 up");
  await page.keyboard.press("Enter");
  await tabTo(page, /^Save$/);
  await page.keyboard.press("Enter");
  await chat.getByText("then Second · demo").waitFor();
  const read = async () => (await engine.listProviderRoles({ slug: "desk" })).roles[0];
  expect(await read()).toMatchObject({
    source: "bound",
    connection: { id: first },
    fallbacks: [{ connectionId: third }, { connectionId: second }],
  });
  await looksRight(page, "managed-models");

  await tabTo(page, /^Change Chat$/);
  await page.keyboard.press("Enter");
  await tabTo(page, /^Remove fallback 2$/);
  await page.keyboard.press("Enter");
  expect(await focused()).toBe("Remove fallback 1");
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Add a fallback");
  await dialog.getByRole("button", { name: "Save" }).press("Enter");
  await chat.getByText("then Third · demo").waitFor({ state: "detached" });
  expect((await read())?.fallbacks).toEqual([]);

  // An agent whose bound connection is disabled says so.
  await engine.updateSharedConnection({ orgSlug: "default", id: first ?? "", body: { enabled: false } });
  await page.reload();
  await page.getByText("The agent does not answer: First is disabled.").waitFor();
  await chat.getByText("disabled").waitFor();
  await looksRight(page, "managed-models-disabled");
  await page.getByRole("main").getByText("connection disabled").waitFor();
  await chat.getByRole("button", { name: "Change Chat" }).click();
  await connection.selectOption({ label: "None" });
  await dialog.getByRole("button", { name: "Save" }).press("Enter");
  await chat.getByText("nobody").waitFor();

  // A private connection is for this agent alone.
  await page.getByRole("button", { name: "New connection" }).click();
  const create = page.getByRole("dialog", { name: "New connection" });
  expect(await create.getByLabel("The organization's default").count()).toBe(0);
  await create.getByLabel("Name").fill("Own key");
  await create.getByRole("button", { name: "Create" }).press("Enter");
  await page
    .getByRole("table", { name: "Connections" })
    .getByRole("row", { name: /Own key/ })
    .waitFor();
  await engine.deleteAgent({ slug: "desk" });
  for (const id of [first, second, third]) await engine.deleteSharedConnection({ orgSlug: "default", id: id ?? "" });
  expect(complaints).toEqual([]);
});

browserTest("an owner limits a workspace to providers and models", async () => {
  const { page, complaints } = await openAs("workspaces", "Workspaces");
  const card = page.getByRole("region", { name: "default" });
  await card.getByText("Providers: all.").waitFor();
  await card.getByRole("button", { name: "Limit providers" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Providers of default" });
  await dialog.getByLabel("Every provider").uncheck();
  await dialog.getByLabel("Mistral", { exact: true }).check();
  await dialog.getByLabel("OpenAI", { exact: true }).check();
  await dialog.getByLabel("Models of OpenAI").fill("gpt-5-mini, ../x");
  await dialog.getByLabel("Private connections").uncheck();
  await looksRight(page, "managed-admission");
  await dialog.getByRole("button", { name: "Save" }).press("Enter");
  await page.getByText(/^Models of OpenAI: must be/).waitFor();
  await dialog.getByLabel("Models of OpenAI").fill("gpt-5-mini");
  await dialog.getByRole("button", { name: "Save" }).press("Enter");
  await card.getByText("Providers: OpenAI (gpt-5-mini), Mistral; no private connections.").waitFor();
  await looksRight(page, "managed-workspaces");
  await card.getByRole("button", { name: "Limit providers" }).click();
  await dialog.getByLabel("Every provider").check();
  await dialog.getByLabel("Private connections").check();
  await dialog.getByRole("button", { name: "Save" }).press("Enter");
  await card.getByText("Providers: all.").waitFor();
  expect(complaints.filter((text) => !/400 \(/.test(text))).toEqual([]);
});

browserTest("the key of a new agent becomes its private connection, also at a second attempt", async () => {
  const { page, complaints } = await openAs("agents/~new", "New agent");
  await page.getByLabel("Its name in addresses").fill("keyed");
  await page.getByLabel("Model provider").selectOption("openai-compatible");
  await page.getByLabel("OpenAI-compatible API key").fill("sk-first-0123456789ab11");
  // Not an allowed host, so that the model is never called.
  await page.getByLabel("Address of its API").fill("http://127.0.0.1:9/v1");
  const engine = await asOwner();
  for (const hint of ["ab11", "cd22"]) {
    await page.getByRole("button", { name: "Create and test" }).press("Enter");
    await page.getByText("The agent is made, but its model does not answer").waitFor();
    const stored = async () => (await engine.listPrivateConnections({ slug: "keyed" })).connections;
    await expect.poll(async () => (await stored())[0]?.apiKeyHint?.slice(-4)).toBe(hint);
    expect(await stored()).toMatchObject([{ name: "OpenAI-compatible", roles: ["chat"] }]);
    await page.getByLabel("OpenAI-compatible API key").fill("sk-second-0123456789cd22");
  }
  const { secrets } = await engine.listAgentSecrets({ slug: "keyed" });
  expect(secrets.filter(({ configured }) => configured)).toEqual([]);
  await engine.deleteAgent({ slug: "keyed" });
  expect(complaints.filter((text) => !/(409|50\d) \(/.test(text))).toEqual([]);
});
