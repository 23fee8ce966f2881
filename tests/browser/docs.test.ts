import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { shared } from "../runtime/program.ts";
import { hasBrowser, openPage, picture, views, watch } from "./browser.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const server = shared(() => startServer());

// One test, since rendering the whole description takes a browser ten seconds.
browserTest(
  "/docs tries an operation out, shows each, reads well on any screen, and touches no other host",
  async () => {
    const { url } = server();
    const page = await openPage();
    const complaints = watch(page, url);
    const response = await page.goto(`${url}/docs#/Service/getHealth`);
    expect(response?.headers()["content-security-policy"]).not.toContain("unsafe");
    const health = page.locator("#operations-Service-getHealth");
    await health.getByRole("button", { name: "Try it out" }).click();
    await health.getByRole("button", { name: "Execute" }).click();
    await health.locator(".live-responses-table").getByText("agent-engine").first().waitFor();
    // The address opened this group.
    await group(page, "Service").click();
    await showsEveryOperation(page, url);

    await group(page, "Chat").click();
    const streamChat = page.locator("#operations-Chat-streamChat");
    await streamChat.locator(".opblock-summary-control").click();
    await streamChat.locator(".responses-table").first().waitFor();

    for (const { width, colorScheme } of views) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await picture(page, `docs-${width}-${colorScheme}`);

      // Some colours change slowly.
      await expect
        .poll(() => readability(page), { message: `${width} px, ${colorScheme}` })
        .toEqual({ pale: [], focusMark: "3px", cut: 0 });
      const { wide, background, links } = await page.evaluate(() => ({
        wide: document.documentElement.scrollWidth - innerWidth,
        background: getComputedStyle(document.documentElement).backgroundColor,
        links: [...document.querySelectorAll("a")].map(({ href }) => href).filter((href) => href !== ""),
      }));
      expect(wide, `${width} px`).toBeLessThanOrEqual(0);
      expect(background === "rgb(255, 255, 255)").toBe(colorScheme === "light");
      expect(links.filter((href) => !href.startsWith(url))).toEqual([]);
      expect(complaints).toEqual([]);
    }
  },
);

/** Each group shows its operations. Groups are closed before and afterwards. */
async function showsEveryOperation(page: Page, url: string): Promise<void> {
  const description = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string; tags: string[] }>>;
  };
  const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
  const byTag = Map.groupBy(operations, ({ tags }) => tags[0]?.replaceAll(" ", "_") ?? "");
  const shown = page.locator(".opblock");
  for (const [tag, ofTag] of byTag) {
    await shown.first().waitFor({ state: "detached" });
    await group(page, tag).click();
    const names = ofTag.map(({ operationId }) => `operations-${tag}-${operationId}`).sort();
    await expect.poll(() => shown.evaluateAll((blocks) => blocks.map(({ id }) => id).sort())).toEqual(names);
    await group(page, tag).click();
  }
}

/** The heading of a group of operations, which opens and closes the group. */
const group = (page: Page, tag: string) => page.locator(`#operations-tag-${tag}`);

/**
 * The texts in colours of their own with less contrast than 4.5 to 1, the width of the mark around the control of an
 * operation that has the focus, and how many pixels of the filter's hint are cut off.
 */
async function readability(page: Page) {
  await page.keyboard.press("Tab");
  await page.locator(".opblock-summary-control").first().focus();
  return page.evaluate(() => {
    const light = (color: string) => {
      const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
        const value = Number(part) / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = (element: Element | null): string => {
      const color = element ? getComputedStyle(element).backgroundColor : "rgb(255, 255, 255)";
      return color.startsWith("rgba(0, 0, 0, 0") ? behind(element?.parentElement ?? null) : color;
    };
    const contrast = (element: Element) => {
      const [dim = 0, bright = 0] = [light(getComputedStyle(element).color), light(behind(element))].sort(
        (one, other) => one - other,
      );
      return (bright + 0.05) / (dim + 0.05);
    };
    const texts = document.querySelectorAll(".opblock-summary-method, .info .version, .info .url, .btn");
    const pale = [...texts].filter((text) => contrast(text) < 4.5).map(({ className }) => className);
    const filter = document.querySelector<HTMLInputElement>(".operation-filter-input");
    return {
      pale: [...new Set(pale)],
      focusMark: document.activeElement ? getComputedStyle(document.activeElement).outlineWidth : "",
      cut: filter ? filter.scrollWidth - filter.clientWidth : -1,
    };
  });
}

/** Runs in the page; written as text, since what transforms this file would not leave its `import` alone. */
const streamInPage = `async ({ source, key }) => {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { createAgentEngine } = await import(address);
  const engine = createAgentEngine({ baseUrl: location.origin, token: key });
  const body = { messages: [{ role: "user", content: "think Hello" }] };
  const seen = [];
  for await (const { event } of engine.streamChat({ slug: "assistant", body })) {
    if (seen.at(-1) !== event) seen.push(event);
  }
  return seen;
}`;

browserTest("the client streams a reply inside a page", async () => {
  const { url, key } = server();
  const page = await openPage();
  await page.goto(`${url}/health`);
  const source = readFileSync(new URL("../../dist/client/index.js", import.meta.url), "utf8");
  const seen = await page.evaluate(`(${streamInPage})(${JSON.stringify({ source, key })})`);
  expect(seen).toEqual(["step-start", "reasoning-delta", "text-delta", "step-finish", "done"]);
});
