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
