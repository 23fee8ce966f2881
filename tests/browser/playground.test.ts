import { expect, test } from "vitest";
import { cuttingProxy } from "../cutting-proxy.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const password = "correct horse battery";

browserTest("two models answer side by side, and a prompt is read before it is saved", async () => {
  const server = await startServer({
    OWNER_EMAIL: "ada@example.com",
    OWNER_PASSWORD: password,
  });
  const page = await openPage();
  const complaints = watch(page, server.url);
  await page.addInitScript(`{
    const { parse } = URL;
    globalThis.linksRead = 0;
    URL.parse = (address) => {
      linksRead += 1;
      return parse(address);
    };
  }`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(`${server.url}/#/agents/assistant`);
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");

  await page.getByLabel("Message to assistant").fill("It's **tea** time");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Why this answer" }).waitFor();
  await page.getByRole("button", { name: "Copy as curl" }).click();
  await page.getByText("Put the agent's key in place").waitFor();
  const curl = await page.evaluate(() => navigator.clipboard.readText());
  expect(curl).toContain(`curl ${server.url}/v1/chat/completions`);
  expect(curl).toContain(`"content":"It'\\''s **tea** time"}]}'`);

  // Before its first event a turn is stopped by leaving it, and a reload sends the unanswered message again.
  const message = page.getByLabel("Message to assistant");
  const thinking = page.getByText("Thinking…");
  let held = true;
  await page.route("**/playground/stream", (route) => (held ? undefined : route.continue()));
  await message.fill("Never mind");
  await page.keyboard.press("Enter");
  await thinking.waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped here.").waitFor();
  expect(await thinking.count()).toBe(0);
  await message.fill("Ask this once more");
  await page.keyboard.press("Enter");
  await thinking.waitFor();
  // The route stays: without one, the browser would continue the held request.
  held = false;
  await page.reload();
  await page.getByText("You said: Ask this once more").waitFor();
  expect(await page.locator(".question").allTextContents()).toEqual([
    "You:It's **tea** time",
    "You:Ask this once more",
  ]);

  // Hebrew text is aligned to the right, in the field and above it.
  await message.fill("שלום.");
  expect(await message.evaluate((area) => getComputedStyle(area).direction)).toBe("rtl");
  await page.keyboard.press("Enter");
  const greeting = page.locator(".question").last();
  await greeting.getByText("שלום.").waitFor();
  const [first, end] = await greeting.evaluate(({ lastChild }) =>
    [0, 4].map((index) => {
      const range = document.createRange();
      range.setStart(lastChild ?? document.body, index);
      range.setEnd(lastChild ?? document.body, index + 1);
      return range.getBoundingClientRect().left;
    }),
  );
  expect(end).toBeLessThan(first ?? 0);
  await page.getByRole("button", { name: "Send" }).waitFor();

  // A new reply doesn't make the page render earlier ones again.
  await message.fill(`[Link](${server.url})`);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Link" }).waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
  const linksRead = await page.evaluate("linksRead");
  await message.fill("A few words more");
  await page.keyboard.press("Enter");
  await page.getByText("You said: A few words more").waitFor();
  expect(await page.evaluate("linksRead")).toBe(linksRead);
  const why = page.getByRole("button", { name: "Why this answer" }).first();
  await why.click();
  await page.getByText("Ended as").waitFor();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await why.and(page.locator(":focus")).waitFor();

  await page.getByRole("button", { name: "Compare two models" }).click();
  const sides = page.locator(".side");
  const right = page.getByLabel("Other model").and(page.locator("input"));
  await right.fill("demo:other");
  await page.getByLabel("Message to assistant").fill("think Which is better?");
  await page.keyboard.press("Enter");
  await sides.nth(0).getByText("tokens in").waitFor();
  await sides.nth(1).getByText("demo · other").waitFor();
  await looksRight(page, "comparison");
  // The models and both conversations outlive a reload.
  await page.reload();
  await sides.nth(1).getByText("demo · other").waitFor();
  expect(await right.inputValue()).toBe("demo:other");
  await right.fill("../x");
  await sides.nth(1).getByText("Write provider:model").waitFor();
  await page.getByRole("button", { name: "One model again" }).click();
  await page.locator(".question", { hasText: "It's **tea** time" }).waitFor();

  await page.getByRole("link", { name: "Prompts" }).click();
  const soul = await page.getByLabel("Soul").inputValue();
  expect(soul).not.toBe("");
  await page.getByLabel("Soul").fill("Be as brief as {{name}} can.");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("Be as brief as assistant can.").waitFor();
  await looksRight(page, "prompt-preview");
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Back to the default of Soul" }).click();
  await page.getByText("The default comes back once this is saved.").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => page.getByLabel("Soul").inputValue()).toBe(soul);
  expect(complaints.filter((text) => !text.includes("400 (Bad Request)"))).toEqual([]);
});

browserTest("a reply goes on where the connection broke, and nothing of it is missing or doubled", async () => {
  const reached = Promise.withResolvers<null>();
  let cuts = 0;
  const proxy = await cuttingProxy("", ({ method, path }) => {
    if (!path.includes("/playground/stream") || method === "DELETE") return null;
    cuts += 1;
    return cuts === 1 ? 12 : reached.promise;
  });
  const server = await startServer({
    OWNER_EMAIL: "ada@example.com",
    OWNER_PASSWORD: password,
    BASE_URL: proxy.url,
  });
  proxy.target = server.url;
  const page = await openPage();
  await page.goto(`${proxy.url}/#/agents/assistant`);
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  const said = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");
  await page.getByLabel("Message to assistant").fill(said);
  await page.keyboard.press("Enter");
  await page.getByText("The connection broke.").waitFor();
  reached.resolve(null);
  await page.getByRole("button", { name: "Why this answer" }).waitFor();
  expect(await page.locator(".reply .prose").textContent()).toContain(`You said: ${said}`);
  expect(await page.getByText("The connection broke.").count()).toBe(0);
});

browserTest("a reply shows bold text beside Chinese punctuation, and definitions that no link uses", async () => {
  const server = await startServer({
    OWNER_EMAIL: "ada@example.com",
    OWNER_PASSWORD: password,
  });
  const page = await openPage();
  await page.goto(`${server.url}/#/agents/assistant`);
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  await page
    .getByLabel("Message to assistant")
    .fill("**重要：**请看 [docs][1]\n\n[1]: https://a.example/one\n[2]: https://a.example/two");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Why this answer" }).waitFor();
  const reply = page.locator(".reply .prose");
  expect(await reply.locator("strong").allTextContents()).toEqual(["重要："]);
  expect(await reply.textContent()).toContain("重要：请看 docs[2]: https://a.example/two");
  const links = await reply.locator("a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  expect(links).toEqual(["https://a.example/one", "https://a.example/two"]);
});
