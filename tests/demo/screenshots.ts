// `npm run screenshots`: pictures of every page of the panel on four screens, in `screenshots/`, of an installation
// with content. With `--readme` only those of the README. The program is the real one, on a PostgreSQL of its own; the
// model is a stand-in on this machine.
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { createAgentEngine } from "../../src/client/index.ts";
import { launch, views } from "../browser/chromium.ts";
import { startThrowaway } from "../real-postgres.ts";
import { modelServer } from "./model-server.ts";
import { type DemoServer, startServer } from "./server.ts";
import { furnish } from "./tea-house.ts";

const folder = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

const sections = [
  ...["overview", "agents", "agents/~new", "conversations", "approvals", "activity", "memories", "skills", "plugins"],
  ...["members", "workspaces", "usage", "audit-log", "keys", "organization", "health", "policies", "account"],
];
const parts = ["settings", "prompts", "tools", "skills", "secrets", "channels", "hooks"];
const pages: readonly string[] = [
  ...sections,
  ...parts.map((part) => `agents/support/${part}`),
  ...["room", "room/sources", "room/events", "room/backlog", "tasks"].map((part) => `agents/buyer/${part}`),
  ...["skills/refunds", "skills/refunds/versions"],
];

const postgres = await startThrowaway();
if (!postgres) throw new Error("There is no PostgreSQL for this platform among the packages");
const model = await modelServer();
const browser = await launch();
try {
  const server = await startServer({
    DATABASE_URL: postgres.url,
    ENCRYPTION_KEY: "0".repeat(64),
    OPENAI_COMPATIBLE_BASE_URL: model.url,
    OPENAI_COMPATIBLE_API_KEY: "sk-for-pictures",
  });
  try {
    const { token } = await createAgentEngine({ baseUrl: server.url }).signIn({ body: server.owner });
    await furnish(createAgentEngine({ baseUrl: server.url, token }), postgres.url);
    if (process.argv.includes("--readme")) await shootReadme(browser, server);
    else await shootAll(browser, server);
  } finally {
    await server.stop();
  }
} finally {
  await browser.close();
  model.close();
  await postgres.stop();
}

async function shootAll(browser: Browser, server: DemoServer): Promise<void> {
  const target = folder("screenshots");
  mkdirSync(target, { recursive: true });
  const context = await signedIn(browser, server);
  const page = await context.newPage();
  for (const { width, colorScheme } of views) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const name of pages) {
      await open(page, server, name);
      const file = `${name.replaceAll("/", "-").replace("~", "")}-${width}-${colorScheme}.png`;
      await page.screenshot({ path: `${target}/${file}`, fullPage: true });
    }
  }
}

/** The README's pictures, at the size of a reader's screen. */
async function shootReadme(browser: Browser, server: DemoServer): Promise<void> {
  const target = folder("docs/images");
  mkdirSync(target, { recursive: true });
  const context = await signedIn(browser, server);
  const page = await context.newPage();
  const shoot = async (name: string, size: { width: number; height: number }, colorScheme: "light" | "dark") => {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.waitForTimeout(300);
    await page.screenshot({ path: `${target}/${name}.png` });
  };
  await open(page, server, "overview");
  await shoot("overview", { width: 1280, height: 860 }, "light");
  await open(page, server, "agents/support");
  await page.getByLabel("Message to Tea House Support").fill("Are you still open today?");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Why this answer" }).waitFor();
  await page.getByText("Reasoning").click();
  await shoot("playground", { width: 1280, height: 860 }, "dark");
  await open(page, server, "skills/refunds/versions");
  await page.locator(".diff").waitFor();
  await shoot("skills", { width: 1280, height: 700 }, "light");
}

async function signedIn(browser: Browser, server: DemoServer): Promise<BrowserContext> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(server.url);
  await page.getByLabel("E-mail").fill(server.owner.email);
  await page.getByLabel("Password").fill(server.owner.password);
  await page.keyboard.press("Enter");
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  await page.close();
  return context;
}

/** Opens a page of the panel, and waits until everything on it is loaded. */
async function open(page: Page, { url }: DemoServer, name: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`${url}/#/${name}`);
  await page.locator("main h1").waitFor();
  await page.waitForFunction(() => document.querySelector("main .waiting") === null);
  await page.evaluate(() => document.fonts.ready);
}
