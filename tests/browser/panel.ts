import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { picture, views } from "./browser.ts";

const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

interface Audit {
  violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
}

/** The page fits every screen, in both themes, and axe finds no fault. */
export async function looksRight(page: Page, name: string): Promise<void> {
  // The page's policy admits only its own scripts: a test's is added from outside, as an extension's would be.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe);
  for (const { width, colorScheme } of views) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await picture(page, `${name}-${width}-${colorScheme}`);
    const where = `${name} at ${width} px, ${colorScheme}`;
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wide, where).toBeLessThanOrEqual(0);
    // Apart from colours, axe's checks give the same result in both themes.
    if ((width === 1440) !== (colorScheme === "light")) continue;
    const { violations } = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as Audit;
    const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
    expect(found, where).toEqual([]);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** Presses Tab until the element of this name has the focus. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let count = 0; count < 60; count += 1) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : null;
      return element?.getAttribute("aria-label") ?? label ?? element?.textContent ?? "";
    });
    if (name.test(focused)) return;
  }
  throw new Error(`Nothing named ${name} is reached by Tab`);
}

/** Fills in the sign-in that the page shows. */
export async function signIn(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  await page.getByRole("navigation", { name: "Main" }).waitFor({ state: "attached" });
}
