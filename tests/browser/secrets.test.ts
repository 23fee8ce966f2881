import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createAgentEngine } from "../../src/client/index.ts";
import { dataDirectory, shared } from "../runtime/program.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { wholeBrowser } from "./chromium.ts";
import { signIn } from "./panel.ts";
import { browserWithSignIn } from "./saved-sign-in.ts";
import { startServer } from "./server.ts";

const owner = { email: "ada@example.com", password: "correct horse battery" };
const orgSlug = "default";
const slug = "assistant";

const server = shared(() => startServer({ OWNER_EMAIL: owner.email, OWNER_PASSWORD: owner.password }));

/** Gives the agent a tool and a skill that need secrets. */
async function furnish(): Promise<void> {
  const { url } = server();
  const { token } = await createAgentEngine({ baseUrl: url }).signIn({ body: owner });
  const engine = createAgentEngine({ baseUrl: url, token });
  await engine.putAgentTools({ slug, body: { enabled: ["github:listIssues"] } });
  const skill = { name: "Weather", description: "Looks up the weather.", content: "Ask for the place." };
  const requiredEnv = [{ name: "TOKEN", sensitive: true }];
  const { slug: name } = await engine.createSkill({ orgSlug, body: { ...skill, requiredEnv } });
  const { workspaces } = await engine.listWorkspaces({ orgSlug });
  await engine.allowSkill({ orgSlug, workspaceId: workspaces[0]?.id ?? "", name });
  await engine.setAgentSkills({ slug, body: { enabled: [name] } });
}

const press = (page: Page, name: string) => page.getByRole("button", { name }).click();

/** Every page that takes a secret, and how its field is opened there. */
const places: readonly (readonly [path: string, field: string, open?: (page: Page) => Promise<unknown>])[] = [
  ["agents/~new", "OpenAI API key", (page) => page.getByLabel("Model provider").selectOption("openai")],
  [`agents/${slug}/secrets`, "Value"],
  [`agents/${slug}/tools`, "GitHub token"],
  [`agents/${slug}/skills`, "TOKEN"],
  [
    `agents/${slug}/channels`,
    "Token of the bot",
    (page) => page.getByRole("region", { name: "Telegram" }).getByRole("button", { name: "Set up" }).click(),
  ],
  [
    `agents/${slug}/room/sources`,
    "Key",
    async (page) => {
      await press(page, "New source");
      await page.getByLabel("Calls must bring a key").check();
    },
  ],
];

async function openPlace(page: Page, [path, field, open]: (typeof places)[number]) {
  await page.goto("about:blank");
  await page.goto(`${server().url}/#/${path}`);
  await open?.(page);
  return page.getByLabel(field, { exact: true });
}

test.skipIf(!hasBrowser)("no field for a secret looks like a password field to a browser", async () => {
  await furnish();
  const page = await openPage();
  const complaints = watch(page, server().url);
  await page.goto(server().url);
  await signIn(page, owner);
  for (const place of places) {
    const field = await openPlace(page, place);
    await field.fill("sk-of-the-test");
    const [path] = place;
    const seen = await field.evaluate((input: HTMLInputElement) => ({
      type: input.type,
      autocomplete: input.autocomplete,
      spellcheck: input.spellcheck,
      dots: getComputedStyle(input).getPropertyValue("-webkit-text-security"),
    }));
    expect(seen, path).toEqual({ type: "text", autocomplete: "off", spellcheck: false, dots: "disc" });
    expect(await page.locator("input[type=password]").count(), path).toBe(0);
  }
  expect(complaints).toEqual([]);
});

const why = "no whole Chromium on this machine: its headless shell has no password manager";
if (!wholeBrowser) console.warn(`SKIPPED: ${why}`);

test.skipIf(!wholeBrowser)(
  "a browser fills a saved sign-in into the sign-in, and into no field for a secret",
  async () => {
    const { url } = server();
    const context = await browserWithSignIn(dataDirectory(), { origin: url, ...owner });
    const page = await context.newPage();
    page.setDefaultTimeout(90_000);
    await page.goto(url);
    await page.locator("input[type=password]:autofill").waitFor();
    await signIn(page, owner);
    for (const place of places) {
      const field = await openPlace(page, place);
      await field.waitFor();
      // A browser that has filled in this form has also seen the page's own field.
      await page.evaluate(() => {
        const form = document.createElement("form");
        for (const type of ["email", "password"]) form.append(Object.assign(document.createElement("input"), { type }));
        form.className = "control";
        (document.querySelector("dialog[open]") ?? document.body).append(form);
      });
      await page.locator(".control input[type=password]:autofill").waitFor();
      expect(await page.locator("input:not(.control input):autofill").count(), place[0]).toBe(0);
      expect(await field.inputValue(), place[0]).toBe("");
    }
  },
);
