import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, onTestFinished } from "vitest";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The machine's own browser: none is downloaded. `CHROMIUM` names one elsewhere. */
const executable = [process.env.CHROMIUM ?? "", ...places].find((path) => path !== "" && existsSync(path));

export const hasBrowser = executable !== undefined;

if (!hasBrowser)
  console.warn("SKIPPED: no Chromium on this machine; install it, or set CHROMIUM to run the browser tests");

/** The screens that every page is tried on. */
export const views = [
  { width: 1440, colorScheme: "light" },
  { width: 1440, colorScheme: "dark" },
  { width: 390, colorScheme: "light" },
  { width: 390, colorScheme: "dark" },
] as const;

/** Where to put pictures of the pages, for somebody to look at. */
const pictures = process.env.SCREENSHOTS;

export async function picture(page: Page, name: string): Promise<void> {
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
}

/** One for all tests of a file, started by the first. */
let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.close());

/** A page with cookies of its own in a browser that speaks to nobody by itself, closed with the test. */
export async function openPage(): Promise<Page> {
  browser ??= launch();
  const context = await (await browser).newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  // A browser wants more of a busy machine than anything else here.
  page.setDefaultTimeout(90_000);
  return page;
}

function launch(): Promise<Browser> {
  return chromium.launch({
    timeout: 90_000,
    executablePath: executable ?? "",
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ],
  });
}

/** What a page does that nobody should see: errors, violations of its policy, and requests to other hosts. */
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
