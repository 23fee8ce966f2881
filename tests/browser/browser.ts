import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { hasBrowser, launch, views } from "./chromium.ts";

export { hasBrowser, views };

if (!hasBrowser)
  console.warn("SKIPPED: no Chromium on this machine; install it, or set CHROMIUM to run the browser tests");

/** The folder for screenshots of the pages, for people to look at. */
const pictures = process.env.SCREENSHOTS;

export async function picture(page: Page, name: string): Promise<void> {
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
}

/** One for all tests of this process, started by the first. It ends with the process. */
let browser: Promise<Browser> | undefined;

function start(): Promise<Browser> {
  return launch().catch((error: unknown) => {
    browser = undefined;
    throw error;
  });
}

/** A page with cookies of its own in a browser that makes no requests of its own, closed with the test. */
export async function openPage(options: BrowserContextOptions = {}): Promise<Page> {
  browser ??= start();
  const context = await (await browser).newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  // A browser needs more of a busy machine than anything else here.
  page.setDefaultTimeout(90_000);
  return page;
}

/** Faults of a page: errors, violations of its policy, and requests to other hosts. */
export function watch(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`thrown: ${error.message}`));
  page.on("request", (request) => {
    const { protocol, origin: host } = new URL(request.url());
    if (protocol !== "data:" && host !== origin) complaints.push(`request: ${request.url()}`);
  });
  return complaints;
}
