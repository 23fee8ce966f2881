import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight, signIn } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };

const start = () => startServer({ OWNER_EMAIL: owner.email, OWNER_PASSWORD: owner.password });

const open = async (page: Page, url: string, name: string, heading = name) => {
  await page.goto(`${url}/#/${name}`);
  await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
};

/** Adds a person, and answers the password that is shown once. */
async function addPerson(page: Page, email: string, name: string): Promise<string> {
  await page.getByRole("button", { name: "Add a person" }).click();
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Name").fill(name);
  await page.keyboard.press("Enter");
  const shown = page.getByRole("region", { name: `Password of ${email}` });
  await shown.waitFor();
  const password = (await shown.textContent()) ?? "";
  await page.getByRole("button", { name: "Done" }).click();
  return password;
}

browserTest("an owner adds people, workspaces and keys, and sets policies", async () => {
  const server = await start();
  const page = await openPage();
  const complaints = watch(page, server.url);
  await page.goto(`${server.url}/#/members`);
  await signIn(page, owner);

  await page.getByRole("heading", { name: "Members" }).waitFor();
  const password = await addPerson(page, "bob@example.com", "Bob");
  await page.getByText("has not chosen a password yet").waitFor();
  expect(await page.content()).not.toContain(password);
  await page.getByLabel("Role of Bob").selectOption("viewer");
  await page.getByText("Bob is viewer now").waitFor();
  await looksRight(page, "members");

  await open(page, server.url, "workspaces", "Workspaces");
  await page.getByLabel(/^Bob/).waitFor();
  await expect.poll(() => page.getByLabel(/^Bob/).isChecked()).toBe(true);
  await page.getByRole("button", { name: "New workspace" }).click();
  await page.getByLabel("Name").fill("default");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Name").fill("Lab");
  await page.keyboard.press("Enter");
  const lab = page.getByRole("region", { name: "Lab" });
  await lab.getByLabel(/^Bob/).check();
  await page.getByText("Bob reaches it now").waitFor();
  await looksRight(page, "workspaces");

  await open(page, server.url, "keys", "Management keys");
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("Pipeline");
  await page.keyboard.press("Enter");
  const shown = page.getByRole("region", { name: "Management key" });
  await shown.waitFor();
  const key = (await shown.textContent()) ?? "";
  const headers = { Authorization: `Bearer ${key}` };
  expect((await fetch(`${server.url}/api/instances`, { headers })).status).toBe(200);
  await page.getByRole("button", { name: "Done" }).click();
  await looksRight(page, "keys");
  expect(await page.content()).not.toContain(key);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete the key" }).click();
  await page.getByRole("heading", { name: "No keys yet" }).waitFor();
  expect((await fetch(`${server.url}/api/instances`, { headers })).status).toBe(401);

  await open(page, server.url, "policies", "Policies");
  await page.getByLabel("Calls of one caller").fill("1");
  await page.keyboard.press("Enter");
  await page
    .getByText(/must be at least/i)
    .first()
    .waitFor();
  await page.getByLabel("Calls of one caller").fill("1234");
  const hosts = page.getByLabel("Hosts inside the network");
  await hosts.fill("intranet.example\nno host\n");
  await page.getByRole("button", { name: "Save" }).click();
  await hosts.and(page.locator("[aria-invalid=true]")).waitFor();
  await hosts.fill("intranet.example\n");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.reload();
  await expect.poll(() => page.getByLabel("Calls of one caller").inputValue()).toBe("1234");
  expect(await page.getByLabel("Hosts inside the network").inputValue()).toBe("intranet.example");
  await looksRight(page, "policies");

  await open(page, server.url, "plugins", "Plugins");
  await page.getByRole("button", { name: "Add an MCP server" }).click();
  await page.getByLabel("Namespace").fill("linear");
  await page.getByLabel("Address").fill("http://127.0.0.1:1/mcp");
  await page.getByLabel("Headers").fill("Authorization: Bearer secret-of-the-test");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "linear" }).waitFor();
  await looksRight(page, "plugins");
  expect(await page.content()).not.toContain("secret-of-the-test");

  expect(complaints.filter((text) => !/40[09] \(/.test(text))).toEqual([]);
});

browserTest("people see to their own account, and every page is about one organization", async () => {
  const server = await start();
  const page = await openPage();
  await page.goto(`${server.url}/#/members`);
  await signIn(page, owner);
  const password = await addPerson(page, "eve@example.com", "Eve");

  await open(page, server.url, "organization", "Organization");
  await page.getByLabel("Its name in addresses").last().fill("lab");
  await page.getByRole("button", { name: "Create the organization" }).click();
  await page.getByLabel("Organization", { exact: true }).and(page.locator("select")).waitFor();
  await looksRight(page, "organization");
  await open(page, server.url, "agents", "Agents");
  await page.getByRole("heading", { name: "No agents yet" }).waitFor();
  await page.getByLabel("Organization", { exact: true }).selectOption("default");
  // Switching to another organization opens its first page.
  await page.getByRole("link", { name: "Open the playground" }).waitFor();
  await page.goto(`${server.url}/#/agents`);
  await page.getByRole("link", { name: "assistant" }).waitFor();

  // A person whose password another one made is asked for a new one.
  const other = await openPage();
  await other.goto(server.url);
  await signIn(other, { email: "eve@example.com", password });
  await other.getByRole("link", { name: "Choose a password of your own" }).click();
  await other.getByLabel("Present password").fill(password);
  await other.getByLabel("New password", { exact: true }).fill("a new password");
  await other.getByLabel("New password once more").fill("a new passwort");
  await other.getByText("The two passwords differ.").waitFor();
  await other.getByLabel("New password once more").fill("a new password");
  await other.getByRole("button", { name: "Change the password" }).click();
  await other.getByText("Your other sessions have ended.").waitFor();

  const elsewhere = await openPage();
  await elsewhere.goto(`${server.url}/#/account`);
  await signIn(elsewhere, { email: "eve@example.com", password: "a new password" });
  await elsewhere.getByRole("button", { name: "Sign out everywhere else" }).waitFor();
  await looksRight(elsewhere, "account");
  await elsewhere.getByRole("button", { name: "Sign out everywhere else" }).click();
  await elsewhere.getByRole("dialog").getByRole("button", { name: "Sign out everywhere else" }).click();
  await elsewhere.getByText("One other session has ended").waitFor();
  await other.goto(`${server.url}/#/conversations`);
  await other.getByRole("heading", { name: "Sign in to Agent Engine" }).waitFor();

  // A person who left the last organization is told so, and can still sign out.
  await elsewhere.getByRole("button", { name: "Leave" }).click();
  await elsewhere.getByRole("button", { name: "Leave the organization" }).click();
  await elsewhere.getByText("You belong to none.").waitFor();
  await elsewhere.goto(`${server.url}/#/agents`);
  await elsewhere.getByText("You belong to no organization yet.").waitFor();
  await looksRight(elsewhere, "no-organization");
  await elsewhere.getByRole("button", { name: "Sign out" }).click();
  await elsewhere.getByRole("heading", { name: "Sign in to Agent Engine" }).waitFor();
});
