import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createAgentEngine } from "../../src/client/index.ts";
import { chat, shared } from "../runtime/program.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight, signIn } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };
const slug = "assistant";

const server = shared(() => startServer({ OWNER_EMAIL: owner.email, OWNER_PASSWORD: owner.password }));

async function client() {
  const { url } = server();
  const { token } = await createAgentEngine({ baseUrl: url }).signIn({ body: owner });
  return createAgentEngine({ baseUrl: url, token });
}

async function open(path: string, person = owner): Promise<{ page: Page; complaints: string[] }> {
  const { url } = server();
  const page = await openPage();
  const complaints = watch(page, url);
  await page.goto(`${url}/#/${path}`);
  await signIn(page, person);
  return { page, complaints };
}

browserTest("a task has a usual rhythm in the person's own zone, and its refusal speaks of labels", async () => {
  const { url } = server();
  const page = await openPage({ timezoneId: "Asia/Tokyo" });
  await page.goto(`${url}/#/agents/${slug}/tasks`);
  await signIn(page, owner);
  await page.getByRole("button", { name: "New task" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.getByLabel("Time zone").inputValue()).toBe("Asia/Tokyo");
  await dialog.getByLabel("Rhythm").selectOption("on Mondays at 09:00");
  expect(await dialog.getByLabel("Times").inputValue()).toBe("0 9 * * 1");
  await looksRight(page, "task-rhythm");
  await dialog.getByLabel("Name").fill("Report");
  await dialog.getByLabel("What the agent is told").fill("Report.");
  await dialog.getByLabel("Times").fill("99 9 * * *");
  expect(await dialog.getByLabel("Rhythm").inputValue()).toBe("");
  await dialog.getByLabel("Time zone").fill("Mars/Olympus");
  await dialog.getByRole("button", { name: "Save" }).click();
  const refusal = (await dialog.getByRole("alert").textContent()) ?? "";
  expect(refusal).toMatch(/^(Times|Time zone): /);
  expect(refusal).not.toContain("schedule");
});

browserTest(
  "tools are folded by family, and say what is missing where they are turned on and where that is saved",
  async () => {
    const { page, complaints } = await open(`agents/${slug}/tools`);
    const family = page.locator("details", { has: page.locator("summary", { hasText: "GitHub" }) });
    const tool = family.getByLabel("List issues", { exact: true });
    await family.getByText(/^0 of \d+ on$/).waitFor();
    expect(await tool.isVisible()).toBe(false);
    await family.locator("summary").press("Enter");
    await tool.check();
    await family.getByText("missing: GitHub token").waitFor();
    await family.locator("summary").getByText("a secret is missing").waitFor();
    await page.locator(".save-bar").getByText("Missing: GitHub token.").waitFor();
    await looksRight(page, "tools-missing");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByLabel("GitHub token", { exact: true }).fill("ghp_of_the_browser_test");
    await page.getByRole("button", { name: "Store" }).click();
    await family.getByText("missing: GitHub token").waitFor({ state: "detached" });
    await page.getByRole("searchbox").fill("hubspot");
    await page.getByLabel("Search contacts", { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  },
);

browserTest("the composer is at the window's bottom before anything is said, and after a long reply", async () => {
  const { page, complaints } = await open(`agents/${slug}`);
  const message = page.getByLabel(/^Message to/);
  await message.waitFor();
  const gap = async () => {
    const below = await page.locator(".dock").evaluate((dock) => innerHeight - dock.getBoundingClientRect().bottom);
    return Math.round(below);
  };
  for (const [width, height] of [
    [1440, 900],
    [390, 800],
  ] as const) {
    await page.setViewportSize({ width, height });
    expect(await gap()).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBe(0);
  }
  await looksRight(page, "playground-empty");
  await message.fill(Array.from({ length: 60 }, (_, index) => `Line ${index}`).join("\n\n"));
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Why this answer" }).waitFor();
  expect(await gap()).toBe(0);
  await page.getByRole("button", { name: "Compare two models" }).click();
  await page.getByRole("region", { name: "Other model" }).waitFor();
  await page.evaluate(() => scrollTo(0, 0));
  expect(await gap()).toBe(0);
  await looksRight(page, "comparison");
  await page.getByRole("button", { name: "One model again" }).click();
  expect(complaints).toEqual([]);
});

browserTest("tabs that go on beyond an edge of the screen are shaded there", async () => {
  const { page } = await open(`agents/${slug}/settings`);
  await page.setViewportSize({ width: 390, height: 800 });
  const tabs = page.getByRole("navigation", { name: "Parts of the agent" });
  /** Above the letters, where only the row itself is. */
  const edge = async (side: "left" | "right") => {
    const { x, y, width } = (await tabs.boundingBox()) ?? { x: 0, y: 0, width: 0 };
    const clip = { x: side === "left" ? x : x + width - 4, y: y + 1, width: 4, height: 3 };
    return (await page.screenshot({ clip })).toString("base64");
  };
  await tabs.evaluate((row) => row.scrollTo(0, 0));
  const plain = await edge("left");
  expect(await edge("right")).not.toBe(plain);
  await tabs.evaluate((row) => row.scrollTo(row.scrollWidth, 0));
  expect(await edge("right")).toBe(plain);
  expect(await edge("left")).not.toBe(plain);
});

browserTest("the calls that wait for a person are counted beside the way to them", async () => {
  const { url, key } = server();
  const engine = await client();
  await engine.createAgent({ body: { slug: "asking", provider: "demo" } });
  await engine.putAgentTools({ slug: "asking", body: { enabled: ["currentTime"], needsApproval: ["currentTime"] } });
  const { page, complaints } = await open("overview");
  const link = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Approvals" });
  expect(await link.textContent()).toBe("Approvals");
  await engine.putAgentTools({ slug, body: { enabled: ["currentTime"], needsApproval: ["currentTime"] } });
  const asked = await chat({ url, key, text: 'call currentTime {"timezone":"UTC"}', chatId: "counted" });
  expect(asked.status).toBe(200);
  await page.getByRole("link", { name: "Conversations" }).click();
  await expect.poll(() => link.textContent()).toBe("Approvals1 waits");
  await link.click();
  await page.getByText(/and waits for 24 more hours\./).waitFor();
  await looksRight(page, "approvals-count");
  await page.getByRole("button", { name: "Deny" }).click();
  await expect.poll(() => link.textContent()).toBe("Approvals");
  expect(complaints).toEqual([]);
});

browserTest("a viewer is told in one line that a page is to be read", async () => {
  const engine = await client();
  const viewer = { email: "vic@example.com", password: "only looks around" };
  const added = await engine.addMember({ orgSlug: "default", body: { ...viewer, roleKey: "viewer" } });
  if ("invited" in added) throw new Error("There is no such account yet");
  const { workspaces } = await engine.listWorkspaces({ orgSlug: "default" });
  const workspaceId = workspaces[0]?.id ?? "";
  await engine.assignWorkspaceMember({ orgSlug: "default", workspaceId, userId: added.userId });
  const { page } = await open(`agents/${slug}/settings`, viewer);
  const lines = await page.getByText("As viewer you can read this.").evaluate((text) => {
    const { lineHeight } = getComputedStyle(text);
    return Math.round(text.getBoundingClientRect().height / Number.parseFloat(lineHeight));
  });
  expect(lines).toBe(1);
});

browserTest("a model on this machine is refused with the entry that opens it, and a way to the policy", async () => {
  const { page } = await open("agents/~new");
  await page.getByLabel("Its name in addresses").fill("local");
  await page.getByLabel("Model provider").selectOption("ollama");
  await page.getByLabel("Address of its API").fill("http://localhost:11434");
  await page.getByLabel(/^Model \(/).fill("qwen3:8b");
  await page.getByRole("button", { name: "Create and test" }).click();
  const refusal = page.getByRole("alert");
  await refusal.getByText("may add localhost:11434 to the policy httpAllowedHosts").waitFor();
  await looksRight(page, "ollama-refused");
  page.once("dialog", (dialog) => dialog.accept());
  await refusal.getByRole("link", { name: "policy httpAllowedHosts" }).click();
  await page.getByLabel("Hosts inside the network that may be reached").waitFor();
});
