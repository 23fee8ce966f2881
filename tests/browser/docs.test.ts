import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { dataDirectory, quickstart } from "../runtime/program.ts";
import { hasBrowser, openPage, picture, views, watch } from "./browser.ts";

const browserTest = test.skipIf(!hasBrowser);

browserTest("/docs reads well on any screen, and touches no other host", async () => {
  const server = await quickstart({ DATA_DIR: dataDirectory() });
  const page = await openPage();
  const complaints = watch(page, server.url);
  const response = await page.goto(`${server.url}/docs`);
  expect(response?.headers()["content-security-policy"]).not.toContain("unsafe");
  const streamChat = page.locator("#operations-Chat-streamChat");
  await streamChat.waitFor();

  for (const { width, colorScheme } of views) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const summary = streamChat.locator(".opblock-summary-control");
    await picture(page, `docs-${width}-${colorScheme}`);
    await summary.click();
    await streamChat.locator(".responses-table").first().waitFor();
    await picture(page, `docs-${width}-${colorScheme}-operation`);

    const { wide, background, links } = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth - innerWidth,
      background: getComputedStyle(document.documentElement).backgroundColor,
      links: [...document.querySelectorAll("a")].map(({ href }) => href).filter((href) => href !== ""),
    }));
    expect(wide, `${width} px`).toBeLessThanOrEqual(0);
    expect(background === "rgb(255, 255, 255)").toBe(colorScheme === "light");
    expect(links.filter((href) => !href.startsWith(server.url))).toEqual([]);
    expect(complaints).toEqual([]);
    await summary.click();
    await streamChat.locator(".responses-table").first().waitFor({ state: "detached" });
  }
});

browserTest("/docs shows every operation, and tries one out", async () => {
  const server = await quickstart({ DATA_DIR: dataDirectory() });
  const page = await openPage();
  const complaints = watch(page, server.url);
  const description = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string; tags: string[] }>>;
  };
  const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
  await page.goto(`${server.url}/docs`);
  await page.locator("#operations-Service-getHealth").waitFor();
  const names = operations
    .map(({ tags, operationId }) => `operations-${tags[0]?.replaceAll(" ", "_")}-${operationId}`)
    .sort();
  expect(await page.evaluate(() => [...document.querySelectorAll(".opblock")].map(({ id }) => id).sort())).toEqual(
    names,
  );

  const health = page.locator("#operations-Service-getHealth");
  await health.locator(".opblock-summary-control").click();
  await health.getByRole("button", { name: "Try it out" }).click();
  await health.getByRole("button", { name: "Execute" }).click();
  await health.locator(".live-responses-table").getByText("agent-engine").first().waitFor();
  expect(complaints).toEqual([]);
});

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
  const server = await quickstart({ DATA_DIR: dataDirectory() });
  const page = await openPage();
  await page.goto(`${server.url}/health`);
  const source = readFileSync(new URL("../../dist/client/index.js", import.meta.url), "utf8");
  const seen = await page.evaluate(`(${streamInPage})(${JSON.stringify({ source, key: server.key })})`);
  expect(seen).toEqual(["step-start", "reasoning-delta", "text-delta", "step-finish", "done"]);
});
