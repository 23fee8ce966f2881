import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createAgentEngine } from "../../src/client/index.ts";
import { shared } from "../runtime/program.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { signIn } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };

const server = shared(() => startServer({ OWNER_EMAIL: owner.email, OWNER_PASSWORD: owner.password }));

/** Delivers the events of a reply to the page one by one, each with a call of `next`. */
const paced = `{
  const real = globalThis.fetch;
  const blocks = [];
  let wake = () => {};
  globalThis.next = () => {
    const block = blocks.shift();
    if (block !== undefined) wake(block);
    return block;
  };
  globalThis.fetch = async (...call) => {
    const response = await real(...call);
    if (!String(call[0]).endsWith("/playground/stream")) return response;
    const body = new ReadableStream({
      start(controller) {
        wake = (block) => {
          controller.enqueue(new TextEncoder().encode(block));
          if (block.startsWith("event: done") || block.includes("\\nevent: done")) controller.close();
        };
      },
    });
    void response.text().then((text) => blocks.push(...text.split(/(?<=\\n\\n)/)));
    return new Response(body, { status: response.status, headers: response.headers });
  };
}`;

/** Writes each text of the page in capitals, as translators do: in elements in place of the text's node, or around it. */
const translator = (keepsNode: boolean) => `{
  const translated = (node) => {
    if (node.nodeType === Node.ELEMENT_NODE) {
      if (node.closest("[translate=no], font, script, style, textarea")) return;
      for (const child of [...node.childNodes]) translated(child);
    }
    if (node.nodeType !== Node.TEXT_NODE || node.data.trim() === "") return;
    if (node.parentElement?.closest("[translate=no], font, script, style, textarea") !== null) return;
    const outer = document.createElement("font");
    const inner = outer.appendChild(document.createElement("font"));
    node.replaceWith(outer);
    if (${keepsNode}) {
      node.data = node.data.toUpperCase();
      inner.append(node);
    } else {
      inner.append(node.data.toUpperCase());
    }
  };
  translated(document.body);
  new MutationObserver((records) => {
    for (const { addedNodes } of records) for (const node of addedNodes) if (node.isConnected) translated(node);
  }).observe(document.body, { childList: true, subtree: true });
}`;

/** Sends a message, and lets the reply's events arrive one after the other. */
async function ask(page: Page, text: string): Promise<void> {
  const message = page.locator("textarea.input");
  await message.fill(text);
  await message.press("Enter");
  await expect.poll(() => page.evaluate("next()")).toBeTruthy();
  while (await page.evaluate("next()")) await page.evaluate("new Promise(requestAnimationFrame)");
}

browserTest.for([
  { keepsNode: false, how: "in place of each text" },
  { keepsNode: true, how: "around each text" },
])("a translator that writes $how has a reply come to its end, and translates it", async ({ keepsNode }) => {
  const { url } = server();
  const page = await openPage();
  const complaints = watch(page, url);
  await page.addInitScript(paced);
  await page.goto(`${url}/#/agents/assistant`);
  await signIn(page, owner);
  await page.getByLabel("Message to assistant").waitFor();
  await page.evaluate(translator(keepsNode));
  await ask(page, "think of **tea** and\n\n- milk\n- [sugar](https://example.com)\n\nand `water`");
  const replies = page.locator(".reply .prose");
  await expect.poll(() => replies.first().textContent()).toMatch(/YOU SAID: OF TEA AND\s*MILK\s*SUGAR\s*AND WATER/);
  await ask(page, "Once more, with the words of the first reply above");
  await expect.poll(() => replies.nth(1).textContent()).toMatch(/WITH THE WORDS OF THE FIRST REPLY ABOVE$/);
  expect(await page.getByRole("button", { name: /^send$/i }).count()).toBe(1);
  expect(complaints).toEqual([]);
});

browserTest("an Enter that ends an input method's composition sends nothing", async () => {
  const { url } = server();
  const page = await openPage();
  await page.goto(`${url}/#/agents/assistant`);
  await signIn(page, owner);
  const message = page.getByLabel("Message to assistant");
  await message.fill("にほん");
  // Safari reports the end of the composition first, so that the key is not part of it.
  const safari = { key: "Enter", keyCode: 229, bubbles: true, cancelable: true };
  for (const init of [safari, { ...safari, keyCode: 13, isComposing: true }]) {
    const isPrevented = await message.evaluate(
      (area, given) => !area.dispatchEvent(new KeyboardEvent("keydown", given)),
      init,
    );
    expect(isPrevented).toBe(false);
  }
  expect(await message.inputValue()).toBe("にほん");
  await message.press("Enter");
  await page.locator(".question", { hasText: "にほん" }).waitFor();

  await page.keyboard.press("Control+k");
  const find = page.getByRole("combobox");
  await find.fill("Health");
  await find.dispatchEvent("keydown", safari);
  await page.getByRole("dialog").waitFor();
  await find.press("Enter");
  await page.getByRole("heading", { name: "Health" }).waitFor();
});

browserTest("every page speaks one language, whatever the browser's own is", async () => {
  const { url } = server();
  const { token } = await createAgentEngine({ baseUrl: url }).signIn({ body: owner });
  const api = createAgentEngine({ baseUrl: url, token });
  const body = { messages: [{ role: "user" as const, content: "Which tea?" }], chat_id: "languages" };
  for await (const _ of api.streamPlayground({ slug: "assistant", body }));
  const runAt = new Date(Date.now() + 30 * 86_400_000).toISOString();
  for (const schedule of [
    { type: "interval", everyMs: 1_234_000 },
    { type: "one-shot", runAt },
  ] as const) {
    await api.createScheduledTask({
      slug: "assistant",
      body: { name: schedule.type, prompt: "Look around", schedule },
    });
  }
  const page = await openPage({ locale: "ar-EG" });
  await page.goto(url);
  await signIn(page, owner);
  for (const [place, shown] of [
    ["overview", page.getByRole("figure").first()],
    ["agents/assistant/tasks", page.getByText("every 1,234 seconds")],
    ["conversations", page.getByRole("row", { name: /Which tea/ })],
    ["activity", page.locator(".activity li").first()],
    ["usage", page.getByRole("figure").first()],
    ["audit-log", page.getByRole("list", { name: "Entries" })],
    ["account", page.getByRole("table", { name: "Sessions" })],
  ] as const) {
    await page.goto(`${url}/#/${place}`);
    await shown.waitFor();
    for (const more of await page.locator("summary").all()) await more.click();
    expect([place, (await page.content()).match(/.{0,40}[\u0600-\u06ff].{0,40}/)?.[0]]).toEqual([place, undefined]);
  }
});
