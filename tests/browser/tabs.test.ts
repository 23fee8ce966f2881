import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AgentEngine, createAgentEngine } from "../../src/client/index.ts";
import { chat, shared } from "../runtime/program.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { signIn } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };
const other = { email: "bob@example.com", password: "a password of bob's" };

const server = shared(() => startServer({ OWNER_EMAIL: owner.email, OWNER_PASSWORD: owner.password }));

async function asOwner(): Promise<AgentEngine> {
  const { url } = server();
  const { token } = await createAgentEngine({ baseUrl: url }).signIn({ body: owner });
  return createAgentEngine({ baseUrl: url, token });
}

async function say(text: string, chatId = "tea"): Promise<void> {
  const { url, key } = server();
  expect((await chat({ url, key, text, chatId })).status).toBe(200);
}

async function openTab(context: BrowserContext, place: string): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(90_000);
  await page.goto(`${server().url}/#/${place}`);
  return page;
}

const conversation = (chatId: string) => `conversations/${encodeURIComponent(`assistant:web:api-${chatId}`)}`;
const happened = (page: Page, text: string) => page.locator(".activity [data-kind=inbound]", { hasText: text });

browserTest("nine tabs share one connection, and the next one leads when the leading one is closed", async () => {
  await say("The first message");
  const first = await openPage();
  const context = first.context();
  const open = new Set<object>();
  let opened = 0;
  context.on("request", (request) => {
    if (!request.url().includes("/api/activity-stream/")) return;
    opened += 1;
    open.add(request);
  });
  context.on("requestfailed", (request) => open.delete(request));
  await first.goto(`${server().url}/#/activity`);
  await signIn(first, owner);
  await happened(first, "The first message").waitFor();

  const tabs = [first];
  for (let count = 2; count <= 8; count += 1) {
    const tab = await openTab(context, count % 2 === 0 ? "activity" : conversation("tea"));
    await tab.getByText("live", { exact: true }).waitFor();
    tabs.push(tab);
  }
  const ninth = await openTab(context, "activity");
  const complaints = watch(ninth, server().url);
  // Also the events before it was opened.
  await happened(ninth, "The first message").waitFor();
  expect(open.size).toBe(1);
  await say("To all tabs");
  for (const [index, tab] of [...tabs, ninth].entries()) {
    const isConversation = index % 2 === 0 && index > 0 && index < 8;
    await (isConversation
      ? tab.locator(".question", { hasText: "To all tabs" })
      : happened(tab, "To all tabs")
    ).waitFor();
  }

  const before = opened;
  await ninth.close();
  await expect.poll(() => opened).toBe(before + 1);
  await say("After the leader");
  await happened(first, "After the leader").waitFor();
  await tabs[2]?.locator(".question", { hasText: "After the leader" }).waitFor();
  // Each is shown once, though the new leader received it again.
  for (const text of ["The first message", "To all tabs", "After the leader"]) {
    expect(await happened(first, text).count()).toBe(1);
  }
  expect(opened).toBe(before + 1);
  expect(complaints).toEqual([]);
});

browserTest("without locks a tab out of sight has no connection, and catches up in sight", async () => {
  const page = await openPage();
  await page.addInitScript(`{
    Object.defineProperty(Navigator.prototype, "locks", { value: undefined });
    let isHidden = false;
    Object.defineProperty(Document.prototype, "visibilityState", { get: () => (isHidden ? "hidden" : "visible") });
    globalThis.hide = (hides) => {
      isHidden = hides;
      document.dispatchEvent(new Event("visibilitychange"));
    };
  }`);
  await page.goto(`${server().url}/#/activity`);
  await signIn(page, owner);
  await page.getByText("live", { exact: true }).waitFor();
  const left = page.waitForEvent("requestfailed", (request) => request.url().includes("/api/activity-stream/"));
  await page.evaluate("hide(true)");
  await left;
  await say("While nobody looked", "unseen");
  await page.evaluate("hide(false)");
  await happened(page, "While nobody looked").waitFor();
});

browserTest("a sign-out, and another person's sign-in, reach all tabs at once", async () => {
  const api = await asOwner();
  await api.addMember({ orgSlug: "default", body: { ...other, name: "Bob", roleKey: "admin" } });
  const first = await openPage();
  await first.goto(`${server().url}/#/activity`);
  await signIn(first, owner);
  const second = await openTab(first.context(), "conversations");
  await second.getByRole("heading", { name: "Conversations" }).waitFor();
  await second.getByLabel("Search").fill("Ada's search");
  await second.getByRole("button", { name: "Sign out" }).click();
  await first.getByRole("heading", { name: "Sign in to Agent Engine" }).waitFor();
  await signIn(second, other);
  await first.getByRole("link", { name: "Bob" }).waitFor();
  await happened(first, "The first message").waitFor();
});

browserTest("the reply to a call that somebody else approved comes without a reload", async () => {
  const api = await asOwner();
  const enabled = ["currentTime"];
  await api.putAgentTools({ slug: "assistant", body: { enabled, needsApproval: enabled } });
  const page = await openPage();
  await page.goto(`${server().url}/#/agents/assistant`);
  await signIn(page, owner);
  const ask = async () => {
    await page.getByLabel("Message to assistant").fill('call currentTime {"timezone":"Europe/Zurich"}');
    await page.keyboard.press("Enter");
    await page.getByText("waits for you").waitFor();
    const [approval] = (await api.listApprovals()).approvals;
    if (!approval) throw new Error("Nothing waits");
    return { id: approval.conversationId, toolCallId: approval.toolCallId };
  };
  const first = await ask();
  const reader = await openTab(page.context(), `conversations/${encodeURIComponent(first.id)}`);
  await reader.getByText("waits for you").waitFor();
  const tabs = [page, reader];
  const shown = async (replies: number) => {
    for (const tab of tabs) {
      await expect.poll(() => tab.getByText("I am the demo model, not a language model.").count()).toBe(replies);
      expect(await tab.getByText("waits for you").count()).toBe(0);
      expect(await tab.getByText("done", { exact: true }).count()).toBe(replies);
    }
  };
  await api.decideApproval({ ...first, body: { approved: true } });
  await shown(1);
  const second = await ask();
  // A stored reply has no event ids from which the page could resume.
  await page.reload();
  await page.getByText("waits for you").waitFor();
  await reader.getByText("waits for you").waitFor();
  await api.decideApproval({ ...second, body: { approved: true } });
  await shown(2);
  // Decided in the page itself, also after a reload.
  await ask();
  await page.reload();
  await page.getByRole("button", { name: "Approve" }).click();
  await shown(3);
});
