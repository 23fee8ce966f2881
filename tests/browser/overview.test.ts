import { readFileSync } from "node:fs";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { openStorage } from "../../src/adapters/node/storage.ts";
import { parseSettings } from "../../src/core/config.ts";
import { newId } from "../../src/core/ids.ts";
import { monthOf } from "../../src/core/time/calendar.ts";
import { agents, budgetPeriods, conversations, toolCalls, userBudgetPeriods } from "../../src/db/schema.ts";
import { silent } from "../embedded.ts";
import { plantTurns } from "../features/analytics/plant.ts";
import { quickstart } from "../runtime/program.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight } from "./panel.ts";
import { settingsOfServer, startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };
const dayMs = 86_400_000;

/** The settings of an installation whose agent was called for a month, a little more each day. */
async function month(): Promise<Record<string, string>> {
  const environment = await settingsOfServer({ OWNER_EMAIL: owner.email, OWNER_PASSWORD: owner.password });
  const server = await quickstart(environment);
  server.child.kill("SIGTERM");
  await server.ended;
  const storage = await openStorage(parseSettings(environment), { clock: systemClock, log: silent });
  const now = Date.now();
  const turns = Array.from({ length: 240 }, (_, index) => ({
    at: new Date(now - 1000 - (index % 30) * dayMs),
    subject: `web:user-${index % 7}` as const,
    tools: index % 4 === 0 ? [{ name: "httpRequest", status: index % 8 === 0 ? "failed" : "executed", ms: index }] : [],
    fields: {
      promptTokens: 4000 - (index % 30) * 100,
      completionTokens: 100 + (index % 9) * 30,
      durationMs: 900 + (index % 11) * 350,
      channel: index % 7 === 0 ? "telegram" : "web",
      model: index % 3 === 0 ? "gpt-5" : "gpt-5-mini",
      ...(index === 0 || index === 30 ? { status: "failed" as const, errorCode: "provider-failed" } : {}),
    },
  }));
  const { database } = storage;
  await plantTurns({ services: { database } }, turns);
  const budgets = { monthlyTokenBudget: 900_000, userMonthlyTokenBudget: 100_000 };
  const ids = { agentId: agents.id, organizationId: agents.organizationId };
  const [of] = await database.db.update(agents).set(budgets).returning(ids);
  if (!of) throw new Error("There is no agent");
  const agent = { agentId: of.agentId };
  const conversation = { id: newId(), ref: "assistant:telegram:4711", channel: "telegram", channelId: "4711" };
  await database.db.insert(conversations).values({ ...of, ...conversation, subject: "web:user-3" });
  const args = { toolCallId: "call_1", toolName: "httpRequest", args: { url: "https://example.com" } };
  const waiting = { status: "approval", channel: "telegram" } as const;
  const at = new Date(now - 40_000);
  await plantTurns({ services: { database } }, [
    { at, conversation: conversation.id, fields: waiting, tools: [{ name: "httpRequest", status: "pending" }] },
  ]);
  await database.db
    .update(toolCalls)
    .set({ args, toolCallId: "call_1", expiresAt: new Date(now + dayMs) })
    .where(eq(toolCalls.status, "pending"));
  const month = monthOf(now);
  await database.db.insert(budgetPeriods).values({ ...agent, month, used: 760_000 });
  await database.db.insert(userBudgetPeriods).values([
    { ...agent, month, subject: "web:user-3", used: 100_000 },
    { ...agent, month, subject: "web:user-4", used: 42_000 },
  ]);
  await storage.close();
  return environment;
}

browserTest(
  "what runs, waits and failed, how the days went, what it cost, and whether all is in order",
  async () => {
    const server = await quickstart(await month());
    const page = await openPage();
    const complaints = watch(page, server.url);
    await page.goto(server.url);
    await page.getByLabel("E-mail").fill(owner.email);
    await page.getByLabel("Password").fill(owner.password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByText("A reply over web failed").first().waitFor();
    await page.getByRole("region", { name: "Waiting for approval" }).getByText("httpRequest").waitFor();
    const turns = page.getByRole("figure", { name: "Turns a day" });
    await turns.locator("canvas").waitFor();
    await looksRight(page, "overview");
    await turns.locator(".u-over").hover({ position: { x: 5, y: 50 } });
    // The first of the thirty days, and no turns today.
    const first = new Intl.DateTimeFormat("en-US", { day: "numeric", month: "short", timeZone: "UTC" });
    await turns
      .locator(".chart-legend")
      .getByText(first.format(Date.now() - 29 * dayMs))
      .waitFor();
    // The system's theme is dark by now.
    const picture = () => turns.locator("canvas").evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
    const before = await picture();
    await page.getByRole("button", { name: /^Appearance: system/ }).click();
    await expect.poll(picture).not.toBe(before);
    await page.getByRole("button", { name: /^Appearance: light/ }).click();
    await page.getByRole("button", { name: /^Appearance: dark/ }).click();
    await turns.getByText("As a table").click();
    expect(await turns.getByRole("row").count()).toBe(31);
    await page.getByRole("button", { name: "7 days", exact: true }).click();
    await expect.poll(() => turns.getByRole("row").count()).toBe(8);
    await page.reload();
    await expect.poll(() => page.getByRole("button", { name: "7 days" }).getAttribute("aria-pressed")).toBe("true");

    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByRole("table", { name: "Usage by person" }).getByText("user-3").waitFor();
    await page.getByText("1 agent has used 80% or more.").waitFor();
    await page.getByRole("figure", { name: "Tokens by day" }).locator("canvas").waitFor();
    await looksRight(page, "usage");
    // A screen of 1280 pixels at 400 % zoom.
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1440, height: 900 });
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download usage by user as CSV" }).click(),
    ]);
    const saved = readFileSync(await file.path(), "utf8");
    expect(saved.split("\r\n")[0]).toBe("user,channel,turns,prompt_tokens,completion_tokens,total_tokens");
    expect(saved).toMatch(/^user-3,\w+,\d+,/m);
    await page.getByRole("button", { name: "Other days" }).click();
    await page.getByLabel("First day").fill("2020-01-01");
    await page.getByText("At most 366 days at a time.").waitFor();
    await page.getByLabel("Last day").fill("2020-01-31");
    await page.getByText("Nothing in these days.").first().waitFor();
    expect(page.url()).toContain("from=2020-01-01&to=2020-01-31");

    await page.goto(`${server.url}/#/agents/assistant/settings`);
    await page.getByLabel("Name", { exact: true }).fill("Tea master");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Tea master" }).waitFor();
    await page.getByRole("link", { name: "Audit log" }).click();
    const entries = page.getByRole("list", { name: "Entries" });
    await entries.getByText("changed agent").first().click();
    await page.locator("ins").getByText("Tea master").waitFor();
    await looksRight(page, "audit");
    await page.getByLabel("Who").selectOption({ label: "quickstart" });
    await expect.poll(() => entries.getByText("signed in").count()).toBe(0);
    await page.getByLabel("Search").fill("nothing of that name");
    await page.getByRole("heading", { name: "Nothing was found" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Nothing was found" }).waitFor();
    expect(await page.getByLabel("Search").inputValue()).toBe("nothing of that name");
    await page.getByRole("button", { name: "Show everything" }).click();
    await expect.poll(() => page.getByLabel("Search").inputValue()).toBe("");
    await entries.getByText("changed agent").first().waitFor();

    await page.getByRole("link", { name: "Health" }).click();
    const checks = page.getByRole("list", { name: "Checks" });
    await checks.getByText(/PostgreSQL \d/).waitFor();
    await page.getByText(/^It works; /).waitFor();
    await looksRight(page, "health");
    await page.getByRole("button", { name: "Check again" }).click();
    await checks.getByText("No key in the environment").waitFor();
    expect(complaints).toEqual([]);
  },
  120_000,
);

browserTest(
  "a new installation is told the first steps",
  async () => {
    const server = await startServer({
      OWNER_EMAIL: owner.email,
      OWNER_PASSWORD: owner.password,
    });
    const page = await openPage();
    const complaints = watch(page, server.url);
    await page.goto(server.url);
    await page.getByLabel("E-mail").fill(owner.email);
    await page.getByLabel("Password").fill(owner.password);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Open the playground" }).waitFor();
    await looksRight(page, "overview-new");
    expect(complaints).toEqual([]);
  },
  120_000,
);
