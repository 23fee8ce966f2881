import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createAgentEngine } from "../../src/client/index.ts";
import { shared } from "../runtime/program.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight, signIn } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };
const agent = "**/api/instances/assistant";

const server = shared(() => startServer({ OWNER_EMAIL: owner.email, OWNER_PASSWORD: owner.password }));

/** Holds back the calls of this method to the addresses until they are released. */
async function hold(
  page: Page,
  method: string,
  addresses: string,
): Promise<{ began: Promise<void>; release: () => void }> {
  const began = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await page.route(addresses, async (route) => {
    if (route.request().method() === method) {
      began.resolve();
      await released.promise;
    }
    await route.continue();
  });
  return { began: began.promise, release: released.resolve };
}

browserTest(
  "a field keeps what was saved while it is read again, and what was typed meanwhile stays unsaved",
  async () => {
    const { url } = server();
    const page = await openPage();
    const complaints = watch(page, url);
    await page.goto(`${url}/#/agents/assistant/settings`);
    await signIn(page, owner);
    const [name, description] = [page.getByLabel("Name", { exact: true }), page.getByLabel("Description")];
    await name.fill("Helper");
    const saving = await hold(page, "PATCH", agent);
    const saveButton = page.getByRole("button", { name: "Save" });
    await saveButton.click();
    await saving.began;
    await saveButton.and(page.locator(":focus")).waitFor();
    await description.fill("Written while the name was being saved");
    const reading = await hold(page, "GET", agent);
    saving.release();
    await reading.began;
    expect(await name.inputValue()).toBe("Helper");
    reading.release();
    await page.getByText("Saved", { exact: true }).waitFor();
    // The page has the new name as its title, and is still the same page.
    await page.getByRole("heading", { name: "Helper" }).waitFor();
    await description.and(page.locator(":focus")).waitFor();
    expect(await name.inputValue()).toBe("Helper");
    await page.getByText("Changes are not saved yet.").waitFor();
    expect(await description.inputValue()).toBe("Written while the name was being saved");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Changes are not saved yet.").waitFor({ state: "detached" });
    const { token } = await createAgentEngine({ baseUrl: url }).signIn({ body: owner });
    const { instance } = await createAgentEngine({ baseUrl: url, token }).getAgent({ slug: "assistant" });
    expect(instance).toMatchObject({ name: "Helper", description: "Written while the name was being saved" });
    expect(complaints).toEqual([]);
  },
);

browserTest("what is stored as soon as it is chosen is shown while it is stored and read again", async () => {
  const { url } = server();
  const { token } = await createAgentEngine({ baseUrl: url }).signIn({ body: owner });
  const engine = createAgentEngine({ baseUrl: url, token });
  await engine.createWorkspace({ orgSlug: "default", body: { name: "Lab" } });
  const grace = { email: "grace@example.com", password: "another horse battery" };
  await engine.addMember({ orgSlug: "default", body: { ...grace, name: "Grace", roleKey: "member" } });
  const page = await openPage();
  const complaints = watch(page, url);

  await page.goto(`${url}/#/workspaces`);
  await signIn(page, owner);
  const box = page.getByRole("region", { name: "Lab" }).getByLabel(/^Grace/);
  await box.and(page.locator(":enabled")).waitFor();
  const boxIsRead = await hold(page, "GET", "**/workspaces/*/members");
  await box.click();
  await boxIsRead.began;
  expect(await box.isChecked()).toBe(true);
  boxIsRead.release();
  await page.getByText("Grace reaches it now").waitFor();
  expect(await box.isChecked()).toBe(true);
  // A choice made before the last one is stored is sent after it.
  const boxIsStored = await hold(page, "DELETE", "**/workspaces/*/members/*");
  await box.click();
  await boxIsStored.began;
  await box.click();
  await box.click();
  await box.click();
  expect(await box.isChecked()).toBe(true);
  boxIsStored.release();
  await page.getByText("Grace reaches it now").nth(1).waitFor();
  await page.reload();
  await box.and(page.locator(":enabled:checked")).waitFor();

  await page.goto(`${url}/#/members`);
  const role = page.getByLabel("Role of Grace");
  await role.waitFor();
  const roleIsRead = await hold(page, "GET", "**/organizations/default/members");
  await role.selectOption("viewer");
  await roleIsRead.began;
  expect(await role.inputValue()).toBe("viewer");
  roleIsRead.release();
  // A refused choice is no longer shown.
  await page.route("**/organizations/default/members/*", (route) =>
    route.fulfill({ status: 500, json: { error: "Internal server error" } }),
  );
  await role.selectOption("admin");
  await page.getByText("Internal server error").waitFor();
  await expect.poll(() => role.inputValue()).toBe("viewer");
  expect(complaints.filter((text) => !text.includes("500 ("))).toEqual([]);
});

browserTest("a message that is sent after the end of the session waits for the next one", async () => {
  const { url } = server();
  const page = await openPage();
  await page.goto(`${url}/#/agents/assistant`);
  await signIn(page, owner);
  const message = page.getByLabel(/^Message to/);
  await message.fill("Do not lose me");
  await page.context().clearCookies();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Sign in to Agent Engine" }).waitFor();
  await signIn(page, owner);
  expect(await message.inputValue()).toBe("Do not lose me");
});

browserTest("what one person had not saved when a session ended is kept for that person alone", async () => {
  const { url } = server();
  const { token } = await createAgentEngine({ baseUrl: url }).signIn({ body: owner });
  const engine = createAgentEngine({ baseUrl: url, token });
  const other = { email: "milan@example.com", password: "another horse battery" };
  await engine.addMember({ orgSlug: "default", body: { ...other, name: "Milan", roleKey: "admin" } });
  await engine.createAgent({ body: { slug: "secretive" } });
  const page = await openPage();
  await page.goto(`${url}/#/agents/secretive/settings`);
  await signIn(page, owner);
  const description = page.getByLabel("Description");
  const endSession = async () => {
    await page.context().clearCookies();
    await page.goto(`${url}/#/agents`);
    await page.getByRole("heading", { name: "Sign in to Agent Engine" }).waitFor();
    await page.goto(`${url}/#/agents/secretive/settings`);
  };
  await description.fill("Only Ada knows");
  await endSession();
  await signIn(page, owner);
  await expect.poll(() => description.inputValue()).toBe("Only Ada knows");
  await endSession();
  await signIn(page, other);
  await expect.poll(() => description.inputValue()).toBe("");
});

browserTest("a choice of tools that comes back after a reload leaves alone what somebody else chose", async () => {
  const { url } = server();
  const { token } = await createAgentEngine({ baseUrl: url }).signIn({ body: owner });
  const engine = createAgentEngine({ baseUrl: url, token });
  const page = await openPage();
  await page.goto(`${url}/#/agents/assistant/tools`);
  await signIn(page, owner);
  const [tool, asks] = [
    page.getByLabel("Plan tasks", { exact: true }),
    page.getByLabel("Ask before each call of scheduleTask"),
  ];
  await tool.check();
  await asks.check();
  await tool.uncheck();
  await page.getByText("Changes are not saved yet.").waitFor({ state: "detached" });
  await tool.check();
  await asks.check();
  await engine.putAgentTools({ slug: "assistant", body: { enabled: ["currentTime"], needsApproval: ["currentTime"] } });
  await page.reload();
  await asks.waitFor();
  expect(await page.getByLabel("Tell the time", { exact: true }).isChecked()).toBe(true);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const { tools } = await engine.listAgentTools({ slug: "assistant" });
  const chosen = tools.flatMap(({ name, enabled, needsApproval }) => (enabled ? [[name, needsApproval]] : []));
  expect(Object.fromEntries(chosen)).toEqual({ currentTime: true, scheduleTask: true });
});

browserTest(
  "a draft that comes back after a reload says what somebody else saved in its fields meanwhile",
  async () => {
    const { url } = server();
    const { token } = await createAgentEngine({ baseUrl: url }).signIn({ body: owner });
    const engine = createAgentEngine({ baseUrl: url, token });
    const slug = "shared-desk";
    await engine.createAgent({ body: { slug, description: "A desk.", maxSteps: 10 } });
    const page = await openPage();
    const complaints = watch(page, url);
    await page.goto(`${url}/#/agents/${slug}/settings`);
    await signIn(page, owner);
    const [steps, description] = [
      page.getByLabel("Model calls in a turn, at most", { exact: true }),
      page.getByRole("textbox", { name: /^Description/ }),
    ];
    const [reasoning, provider] = [page.getByLabel("Reasoning"), page.getByLabel("Provider", { exact: true })];
    await steps.fill("20");
    await description.fill("Ada's desk.");
    await provider.selectOption("Ollama");
    const thinks = await reasoning.isChecked();
    await engine.updateAgent({
      slug,
      body: { maxSteps: 5, description: "Bob's desk.", provider: "openai", thinkingEnabled: !thinks },
    });
    page.once("dialog", (dialog) => dialog.accept());
    await page.reload();
    await page.locator(".save-bar").getByText("Somebody else has saved Description, Provider, Model calls").waitFor();
    const field = (label: string) => page.locator(".field", { has: page.getByLabel(label, { exact: true }) });
    await field("Model calls in a turn, at most").getByText("Somebody else has saved 5.").waitFor();
    await field("Provider").getByText("Somebody else has saved OpenAI.").waitFor();
    await page
      .getByRole("region", { name: /^Description:/ })
      .getByText("Bob's desk.")
      .waitFor();
    await looksRight(page, "settings-of-two");
    expect(await steps.inputValue()).toBe("20");
    // A field that is not changed here shows the other person's choice.
    expect(await reasoning.isChecked()).toBe(!thinks);
    await page.getByRole("button", { name: "Take the saved text of Description" }).click();
    expect(await description.inputValue()).toBe("Bob's desk.");
    await page.getByRole("button", { name: "Take the saved value of Provider" }).click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    await page.getByText("Somebody else has saved").first().waitFor({ state: "detached" });
    const { instance } = await engine.getAgent({ slug });
    expect(instance).toMatchObject({ maxSteps: 20, description: "Bob's desk.", provider: "openai" });

    // So do fields of a policy that has several, and those of a dialog.
    await page.goto(`${url}/#/policies`);
    const { policies } = await engine.getPolicies();
    await page.getByLabel("The window, in seconds").fill("61");
    await engine.updatePolicies({ body: { rateLimit: { ...policies.rateLimit, limit: 4_321 } } });
    page.once("dialog", (dialog) => dialog.accept());
    await page.reload();
    await field("Calls of one caller").getByText("Somebody else has saved 4321.").waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    const task = await engine.createScheduledTask({
      slug,
      body: { name: "Report", prompt: "Report.", schedule: { type: "interval", everyMs: 3_600_000 } },
    });
    await page.goto(`${url}/#/agents/${slug}/tasks`);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("What the agent is told").fill("Report to Ada.");
    await engine.updateScheduledTask({ slug, id: task.id, body: { prompt: "Report to Bob." } });
    page.once("dialog", (dialog) => dialog.accept());
    await page.reload();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog").getByText("Somebody else has saved another text.").waitFor();
    expect(complaints).toEqual([]);
  },
);

/** The agent's task page, whose button opens a dialog. */
async function openTasks() {
  const { url } = server();
  const page = await openPage();
  const complaints = watch(page, url);
  await page.goto(`${url}/#/agents/assistant/tasks`);
  await signIn(page, owner);
  const add = page.getByRole("button", { name: "New task" });
  await add.waitFor();
  return { page, complaints, add, dialog: page.getByRole("dialog") };
}

browserTest("a dialog gives the focus to its first field at once, and back when it is left", async () => {
  const { page, complaints, add, dialog } = await openTasks();
  // A person faster than the first field's automatic focus keeps the focus of their own choice.
  const kept = await add.evaluate(async (button: HTMLElement) => {
    const shown = Promise.withResolvers<HTMLTextAreaElement>();
    const look = new MutationObserver(() => {
      const area = document.querySelector<HTMLTextAreaElement>("dialog textarea");
      if (area) shown.resolve(area);
    });
    look.observe(document.body, { childList: true, subtree: true });
    button.click();
    const area = await shown.promise;
    look.disconnect();
    const first = document.activeElement?.tagName;
    area.focus();
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
    await new Promise((resolve) => setTimeout(resolve));
    return [first, document.activeElement?.tagName];
  });
  expect(kept).toEqual(["INPUT", "TEXTAREA"]);
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  // The focus returns to where it was before the dialog.
  const addHasFocus = page.locator(":focus").and(add);
  await add.focus();
  for (const leave of ["Escape", "Cancel"]) {
    await page.keyboard.press("Enter");
    await dialog.waitFor();
    if (leave === "Escape") await page.keyboard.press("Escape");
    else await page.getByRole("button", { name: "Cancel" }).press("Enter");
    await dialog.waitFor({ state: "detached" });
    await addHasFocus.waitFor();
  }
  expect(complaints).toEqual([]);
});

browserTest("a dialog with something typed is closed by the second Escape, which drops it", async () => {
  const { page, complaints, add, dialog } = await openTasks();
  // So small that the fields fill the screen.
  await page.setViewportSize({ width: 390, height: 700 });
  await add.click();
  await page.getByLabel("What the agent is told").pressSequentially("A long story");
  await page.keyboard.press("Escape");
  const warning = page.getByText("Press Escape once more to close without saving.");
  await warning.waitFor();
  const { bottom, height } = await warning.evaluate((element) => ({
    bottom: element.getBoundingClientRect().bottom,
    height: innerHeight,
  }));
  expect(bottom).toBeLessThan(height);
  await page.keyboard.type(", told on");
  await warning.waitFor({ state: "detached" });
  expect(await page.getByLabel("What the agent is told").inputValue()).toBe("A long story, told on");
  await page.keyboard.press("Escape");
  await warning.waitFor();
  // The button works again as soon as the dialog is gone: Chromium reports the closing a moment later.
  await add.evaluate((button: HTMLElement) => {
    const look = new MutationObserver(() => {
      if (document.querySelector("dialog[open]")) return;
      look.disconnect();
      button.click();
    });
    look.observe(document.body, { childList: true, subtree: true, attributes: true });
  });
  await page.keyboard.press("Escape");
  for (let frame = 0; frame < 3; frame += 1) await page.evaluate(() => new Promise(requestAnimationFrame));
  await dialog.waitFor();
  expect(await page.getByLabel("What the agent is told").inputValue()).toBe("");
  expect(complaints).toEqual([]);
});
