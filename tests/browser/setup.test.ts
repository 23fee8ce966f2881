import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { chat, dataDirectory, serve } from "../runtime/program.ts";
import { hasBrowser, openPage, picture, views, watch } from "./browser.ts";

const browserTest = test.skipIf(!hasBrowser);

/** Nothing of the page lies beside the screen, on any. */
async function fits(page: Page, name: string): Promise<void> {
  for (const { width, colorScheme } of views) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await picture(page, `${name}-${width}-${colorScheme}`);
    const { wide, dark } = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth - innerWidth,
      dark: getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)",
    }));
    expect(wide, `${name} at ${width} px`).toBeLessThanOrEqual(0);
    expect(dark).toBe(colorScheme === "dark");
  }
}

browserTest("from the setup link to an agent that answers, by keyboard alone", async () => {
  const server = await serve([], { DATA_DIR: dataDirectory() });
  const [, link = ""] = await server.printed(/(http:\S+\/setup\?token=\S+)/);
  const page = await openPage();
  const complaints = watch(page, server.url);

  await page.goto(server.url);
  expect(await page.textContent("main")).toContain("Nobody owns it yet");
  await fits(page, "home-unowned");

  await page.goto(link);
  await fits(page, "setup");
  const type = async (...texts: string[]) => {
    for (const text of texts) {
      await page.keyboard.type(text);
      await page.keyboard.press("Tab");
    }
  };
  // The first field has the focus.
  await type("ada@example.com", "correct horse", "correct house");
  await page.keyboard.press("Enter");
  expect(await page.textContent("#problem")).toBe("The two passwords differ.");
  // The focus is in the field that differs.
  await page.keyboard.press("Control+A");
  await type("correct horse", "Ada");
  await page.keyboard.press("Enter");
  await page.locator("#done-title").waitFor();
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("done-title");
  expect(page.url()).toBe(`${server.url}/setup`);
  await fits(page, "setup-done");

  await page.keyboard.press("Tab");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("tea");
  await page.keyboard.press("Enter");
  await page.locator("#ready-title").waitFor();
  expect(await page.textContent("#ready-title")).toBe("tea answers");
  await fits(page, "setup-ready");
  const key = (await page.textContent("#key")) ?? "";
  expect(await page.textContent("#command")).toContain(`Authorization: Bearer ${key}`);
  expect((await chat({ url: server.url, key, model: "tea", text: "Hello" })).status).toBe(200);

  // The session goes on where the page leads to.
  await page.getByRole("link", { name: "API pages" }).click();
  await page.locator("#operations-tag-Account").waitFor();
  const me = await page.evaluate(async () => (await fetch("api/me")).json());
  expect(me).toMatchObject({ user: { email: "ada@example.com", name: "Ada" } });

  await page.goto(server.url);
  expect(await page.textContent("main")).toContain(`${server.url}/v1`);
  await fits(page, "home");
  expect(complaints).toEqual([]);
  expect(server.stderr()).not.toContain(key);
});

browserTest("a slug that is refused can be corrected", async () => {
  const server = await serve([], { DATA_DIR: dataDirectory() });
  const [, link = ""] = await server.printed(/(http:\S+\/setup\?token=\S+)/);
  const page = await openPage();
  await page.goto(link);
  await page.fill("#email", "ada@example.com");
  for (const field of ["#password", "#again"]) await page.fill(field, "correct horse");
  await page.press("#again", "Enter");
  await page.locator("#done-title").waitFor();
  await page.fill("#slug", "models");
  await page.press("#slug", "Enter");
  await page.locator("#agent-problem").waitFor();
  expect(await page.textContent("#agent-problem")).toContain("not one of: models");
  await page.fill("#slug", "assistant");
  await page.press("#slug", "Enter");
  await page.locator("#ready-title").waitFor();
});
