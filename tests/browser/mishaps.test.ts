import { expect, test } from "vitest";
import { createAgentEngine } from "../../src/client/index.ts";
import { shared } from "../runtime/program.ts";
import { hasBrowser, openPage } from "./browser.ts";
import { looksRight, signIn } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };

const server = shared(() => startServer({ OWNER_EMAIL: owner.email, OWNER_PASSWORD: owner.password }));

browserTest("a part of the panel that can't be loaded says so, and is loaded again on request", async () => {
  const { url } = server();
  const page = await openPage();
  await page.goto(url);
  await signIn(page, owner);
  const parts = "**/part-*.js";
  await page.route(parts, (route) => route.abort());
  await page.getByRole("link", { name: "Policies" }).click();
  await page.getByText("This part of the panel could not be loaded").waitFor();
  await looksRight(page, "not-loaded");
  // The others stay as they are.
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await page.getByRole("link", { name: "Policies" }).click();
  await page.unroute(parts);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByLabel("Calls of one caller").waitFor();
});

browserTest("what could not be read is asked for again, all of it", async () => {
  const { url } = server();
  const { token } = await createAgentEngine({ baseUrl: url }).signIn({ body: owner });
  const engine = createAgentEngine({ baseUrl: url, token });
  const body = { messages: [{ role: "user" as const, content: "Which tea?" }], chat_id: "tea" };
  for await (const _ of engine.streamPlayground({ slug: "assistant", body }));
  const page = await openPage();
  await page.goto(`${url}/#/conversations`);
  await signIn(page, owner);
  await page.getByRole("row", { name: /Which tea/ }).waitFor();
  const calls = "**/api/**";
  await page.route(calls, (route) => route.abort());
  await page.getByRole("row", { name: /Which tea/ }).click();
  await page.getByText("The server can't be reached.").waitFor();
  await page.unroute(calls);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Which tea?" }).waitFor();
  await page.getByText("The server can't be reached.").waitFor({ state: "detached" });
  await page.locator(".question", { hasText: "Which tea?" }).waitFor();
});

browserTest("a key in a dialog is copied on a page without TLS too, and the focus stays", async () => {
  const { url } = server();
  const page = await openPage();
  await page.addInitScript(() => {
    Object.defineProperty(navigator, "clipboard", { value: undefined });
    document.addEventListener("copy", () => {
      document.title = `copied ${document.getSelection()}`;
    });
  });
  await page.goto(`${url}/#/keys`);
  await signIn(page, owner);
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("Pipeline");
  await page.keyboard.press("Enter");
  const key = (await page.getByRole("region", { name: "Management key" }).textContent()) ?? "";
  expect(key).toMatch(/^aek_/);
  const copy = page.getByRole("button", { name: "Copy: Management key" });
  await copy.click();
  await page.getByText("Copied", { exact: true }).waitFor();
  expect(await page.title()).toBe(`copied ${key}`);
  expect(await copy.evaluate((button) => button === document.activeElement)).toBe(true);
});

browserTest("a key that is asked for twice in a row is made once, so that the one shown is right", async () => {
  const { url } = server();
  const page = await openPage();
  await page.goto(`${url}/#/agents/assistant/channels`);
  await signIn(page, owner);
  await page.getByRole("button", { name: "Turn off" }).first().click();
  const made: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "PUT") made.push(request.url());
  });
  await page.getByRole("button", { name: "Turn on with a new key" }).dblclick();
  const key = (await page.getByRole("region", { name: "Key of the agent" }).textContent()) ?? "";
  const headers = { Authorization: `Bearer ${key}` };
  expect([made.length, (await fetch(`${url}/v1/models`, { headers })).status]).toEqual([1, 200]);
});

browserTest("a refusal stands at the field that it names, and goes once the change is taken back", async () => {
  const { url } = server();
  const page = await openPage();
  await page.goto(`${url}/#/agents/assistant/prompts`);
  await signIn(page, owner);
  const [identity, soul] = [page.getByLabel("Identity", { exact: true }), page.getByLabel("Soul", { exact: true })];
  const former = { identity: await identity.inputValue(), soul: await soul.inputValue() };
  await identity.fill("You are a desk.");
  await soul.fill("x".repeat(32_769));
  await page.getByRole("button", { name: "Save" }).click();
  const refused = page.locator(".field", { has: page.locator("[aria-invalid=true]") });
  await refused.filter({ has: soul }).getByText("must be at most 32768 characters").waitFor();
  expect(await refused.count()).toBe(1);
  await page.getByRole("alert").getByText("Soul: must be at most 32768 characters", { exact: true }).waitFor();
  await looksRight(page, "prompt-refused");
  await identity.fill(former.identity);
  await refused.filter({ has: soul }).waitFor();
  await soul.fill(former.soul);
  await page.getByRole("alert").waitFor({ state: "detached" });
  await refused.waitFor({ state: "detached" });
  expect(await page.getByRole("button", { name: "Discard" }).count()).toBe(0);

  await page.getByRole("link", { name: "Tasks" }).click();
  await page.getByRole("button", { name: "New task" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Report");
  await page.getByLabel("What the agent is told").fill("Report.");
  await page.getByLabel("Times").fill("0 99 * * *");
  await page.getByRole("button", { name: "Save" }).click();
  await refused
    .filter({ has: page.getByLabel("Times") })
    .getByText("Correct the hour")
    .waitFor();
  await page.getByLabel("When", { exact: true }).selectOption("interval");
  // A refused field has its label in the refusal while it is not shown, too.
  expect(await page.getByRole("alert").textContent()).toMatch(/^Times: /);
  await page.getByLabel("Every", { exact: true }).fill("5");
  await page.getByLabel("Unit", { exact: true }).selectOption("seconds");
  await page.getByRole("button", { name: "Save" }).click();
  await refused.getByText("must be at least 60 seconds", { exact: true }).waitFor();
  await page.getByRole("alert").getByText("Every: must be at least 60 seconds", { exact: true }).waitFor();
});

browserTest("agents that could not be read for a new memory are asked for again", async () => {
  const { url } = server();
  const page = await openPage();
  await page.route("**/api/instances", (route) => route.abort());
  await page.goto(`${url}/#/memories`);
  await signIn(page, owner);
  await page.getByText("The server can't be reached.").waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await page.getByRole("button", { name: "Try again" }).focus();
  const failed = page.waitForEvent("requestfailed");
  await page.keyboard.press("Enter");
  await failed;
  expect(await focused()).toBe("Try again");
  await page.unroute("**/api/instances");
  await page.keyboard.press("Enter");
  await page.getByText("The server can't be reached.").waitFor({ state: "detached" });
  await expect.poll(focused).toBe("Memories");
  await page.getByRole("button", { name: "New memory" }).click();
  await page.getByRole("dialog").getByLabel("Agent").waitFor();
});

browserTest("Back leaves a list whose address named a page behind its end", async () => {
  const { url } = server();
  const page = await openPage();
  await page.goto(`${url}/#/agents`);
  await signIn(page, owner);
  for (const place of ["conversations", "memories", "audit-log"]) {
    const read = page.waitForResponse((answer) => answer.url().includes("offset=0"));
    await page.goto(`${url}/#/${place}?offset=-5`);
    expect((await read).status()).toBe(200);
    await page.goto(`${url}/#/agents`);
    await page.goto(`${url}/#/${place}?offset=5000`);
    await expect.poll(() => page.url()).toBe(`${url}/#/${place}`);
    await page.goBack();
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  }
});

browserTest("the choice of agents over a list says that it could not be read", async () => {
  const { url } = server();
  const page = await openPage();
  await page.route("**/api/instances", (route) => route.abort());
  await page.goto(`${url}/#/conversations`);
  await signIn(page, owner);
  for (const place of ["conversations", "usage"]) {
    await page.goto(`${url}/#/${place}`);
    await page.getByText("The server can't be reached.").waitFor();
  }
  await page.unroute("**/api/instances");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("The server can't be reached.").waitFor({ state: "detached" });
  await page.getByLabel("Agent", { exact: true }).selectOption("assistant");
});
