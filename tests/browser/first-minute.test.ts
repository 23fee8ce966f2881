import { expect, test } from "vitest";
import { chat, dataDirectory, serve } from "../runtime/program.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight, tabTo } from "./panel.ts";

const browserTest = test.skipIf(!hasBrowser);

browserTest("from the setup link to the first reply in under a minute, by keyboard alone", async () => {
  const server = await serve([], { DATA_DIR: dataDirectory() });
  const [, link = ""] = await server.printed(/(http:\S+\/setup\?token=\S+)/);
  const page = await openPage();
  const complaints = watch(page, server.url);

  await page.goto(server.url);
  await page.getByText("Nobody owns it yet").waitFor();
  // The whole first load, compressed; a page's other needs are loaded with the page.
  const sizes = await page.evaluate(() => {
    const loaded = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    return loaded.filter(({ name }) => name.endsWith(".js")).map(({ encodedBodySize }) => encodedBodySize);
  });
  expect(sizes.length).toBeGreaterThan(0);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(100_000);
  await looksRight(page, "unowned");

  await page.goto(link);
  await page.getByLabel("E-mail").waitFor();
  await looksRight(page, "setup");
  const begun = performance.now();
  const type = async (...texts: string[]) => {
    for (const text of texts) {
      await page.keyboard.type(text);
      await page.keyboard.press("Tab");
    }
  };
  // The first field has the focus.
  await page.locator(":focus").and(page.getByLabel("E-mail")).waitFor();
  await type("ada@example.com", "correct horse", "correct house");
  const focused = await page.evaluateHandle(() => {
    const shown = Promise.withResolvers<void>();
    const look = new MutationObserver(() => {
      if (!document.querySelector(".wrong")) return;
      look.disconnect();
      shown.resolve();
    });
    look.observe(document.body, { childList: true, subtree: true });
    return { label: shown.promise.then(() => (document.activeElement as HTMLInputElement).labels?.[0]?.textContent) };
  });
  await page.keyboard.press("Enter");
  await page.getByText("The two passwords differ.").waitFor();
  // The field that differs has the focus by the time the page says so.
  expect(await focused.evaluate(({ label }) => label)).toContain("Password again");
  await page.keyboard.press("Control+A");
  await type("correct horse", "Ada");
  await page.keyboard.press("Enter");

  await page.getByRole("heading", { name: "New agent" }).waitFor();
  expect(page.url()).toBe(`${server.url}/#/agents/~new`);
  await looksRight(page, "new-agent");
  await tabTo(page, /^Its name in addresses/);
  await page.keyboard.press("Control+A");
  await page.keyboard.type("models");
  await page.keyboard.press("Enter");
  await page.getByText("not one of: models").first().waitFor();
  await page.getByLabel("Its name in addresses").fill("tea");
  page.once("dialog", (dialog) => dialog.accept());
  await page.reload();
  await expect.poll(() => page.getByLabel("Its name in addresses").inputValue()).toBe("tea");
  await page.getByRole("button", { name: "Create and test" }).click();
  await page.getByRole("heading", { name: "tea answers" }).waitFor();
  expect(performance.now() - begun).toBeLessThan(60_000);
  await looksRight(page, "ready");
  const key = (await page.getByRole("region", { name: "Key of the agent" }).textContent()) ?? "";
  expect(await page.getByRole("region", { name: "First call in curl" }).textContent()).toContain(`Bearer ${key}`);
  expect((await chat({ url: server.url, key, model: "tea", text: "Hello" })).status).toBe(200);

  await tabTo(page, /^Chat with it$/);
  await page.keyboard.press("Enter");
  await page.getByLabel("Message to tea").fill("think **Strong** tea");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Why this answer" }).waitFor();
  await looksRight(page, "playground");
  await page.reload();
  await page.locator(".reply strong").getByText("Strong").waitFor();

  await page.keyboard.press("Control+K");
  await page.getByLabel("Name of a page or an agent").fill("settings");
  await looksRight(page, "palette");
  await page.keyboard.press("Enter");
  await page.getByLabel("Name", { exact: true }).fill("Tea master");
  // Unsaved input outlives a reload.
  page.once("dialog", (dialog) => dialog.accept());
  await page.reload();
  await page.getByText("Changes are not saved yet.").waitFor();
  await looksRight(page, "settings");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Tea master" }).waitFor();

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to Agent Engine" }).waitFor();
  await looksRight(page, "sign-in");
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password").fill("correct horse");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Tea master" }).waitFor();
  // The refusal of the slug is the only answer that the browser reports.
  expect(complaints.filter((text) => !text.includes("400 (Bad Request)"))).toEqual([]);
  expect(server.stderr()).not.toContain(key);
});
