import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createAgentEngine } from "../../src/client/index.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight, signIn } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };

async function open(path: string) {
  const server = await startServer({
    OWNER_EMAIL: owner.email,
    OWNER_PASSWORD: owner.password,
  });
  const page = await openPage();
  const complaints = watch(page, server.url);
  await page.goto(`${server.url}/#/agents/assistant/${path}`);
  await signIn(page, owner);
  return { server, page, complaints };
}

const save = async (page: Page) => {
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
};

browserTest("a system reports an event, which is tried out first and then answered in a conversation", async () => {
  const { server, page, complaints } = await open("room");
  await page.getByRole("heading", { name: "The agent has no Room yet" }).waitFor();
  await looksRight(page, "room-none");
  await page.getByRole("button", { name: "Open the Room" }).click();
  await page.getByLabel("What the agent is to do").fill("Look after the shop.");
  expect(await page.getByLabel("Results go").locator("option").first().textContent()).toBe("To nobody");
  await page.getByLabel("Results go").selectOption("Telegram");
  await page.getByLabel("Id of the chat").fill("4711");
  // An emptied number field doesn't keep the former number.
  const minutes = page.getByLabel("Without events, every so many minutes");
  await minutes.fill("");
  await page.getByText("A number is needed here.").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await minutes.and(page.locator(":focus:invalid")).waitFor();
  await minutes.fill("-1");
  await page.getByRole("button", { name: "Save" }).click();
  await page
    .getByText(/must be at least/)
    .first()
    .waitFor();
  await minutes.fill("60");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await looksRight(page, "room");

  await page.getByRole("link", { name: "Event sources" }).click();
  await page.getByRole("button", { name: "New source" }).click();
  // A known system has instructions for its webhook; GitHub can send no key.
  await page.getByLabel("What sends the events").selectOption("GitHub");
  await page.getByText("GitHub brings no key with its calls").waitFor();
  expect(await page.getByLabel("Name").inputValue()).toBe("GitHub");
  await looksRight(page, "source-github");
  await page.getByLabel("What sends the events").selectOption("Another system");
  await page.getByLabel("Name").fill("Shop");
  await page.getByLabel("Calls must bring a key").check();
  const key = "key-of-the-browser-test";
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByText("Nothing says yet which of its events matter").waitFor();
  await page.getByRole("button", { name: "New definition" }).click();
  await page.getByLabel("Name").fill("Complaints");
  // A definition without a channel of its own writes to the Room's destination.
  const results = page.getByLabel("Results go");
  await expect.poll(() => results.locator("option").first().textContent()).toBe("Where the Room's go: Telegram 4711");
  await page.getByLabel("Which events it is about").fill('The customer says that it is "broken"');
  await page.getByLabel("What must hold before").fill("kind");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByText("“kind” should be as").waitFor();
  await page.getByLabel("What must hold before").fill("");
  await page.getByLabel("What the agent is told").fill("A customer wrote {{payload.text}}. Draft a reply.");
  await looksRight(page, "definition");
  await save(page);
  await page.getByRole("row", { name: /Complaints/ }).waitFor();
  await looksRight(page, "sources");

  await page.getByRole("button", { name: "Try an event" }).click();
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByText("Complaints matches: begins a conversation").waitFor();
  await page.getByRole("region", { name: "What the agent would be told" }).getByText("came broken").waitFor();
  await looksRight(page, "dry-run");
  await page.getByLabel("What the system would send").fill('{"text": "Thank you"}');
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByText("no definition is about it").waitFor();
  await page.getByRole("button", { name: "Close" }).click();

  const bare = await page.getByRole("region", { name: "Address for its events" }).textContent();
  await page.getByText("Only programs on this machine reach this address.").waitFor();
  const call = (await page.getByRole("region", { name: "A first event" }).textContent()) ?? "";
  const [address = ""] = /http:\S+/.exec(call) ?? [];
  expect(address).toContain(`${server.url}/webhooks/`);
  expect(bare).toBe(address);
  const post = (headers: Record<string, string>) =>
    fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: '{"text": "The teapot came broken"}',
    });
  expect((await post({})).status).toBe(401);
  expect((await post({ Authorization: `Bearer ${key}` })).status).toBe(200);
  expect(await page.content()).not.toContain(key);

  await page.getByRole("link", { name: "Events", exact: true }).click();
  await page.getByRole("row", { name: /teapot.* Shop begins a conversation by Complaints/ }).waitFor();
  await looksRight(page, "room-events");
  await page.getByRole("button", { name: "Open" }).first().click();
  const opened = page.getByRole("dialog", { name: "An event of Shop" });
  await opened.getByRole("listitem").getByText("Complaints: matches").waitFor();
  await opened.getByText(/, came .*(ago|now)/).waitFor();
  await looksRight(page, "room-event");
  // A dialog covers messages elsewhere.
  await page.route(
    "**/replay",
    (route) => route.fulfill({ status: 409, json: { message: "Not now", statusCode: 409 } }),
    { times: 1 },
  );
  await page.getByRole("button", { name: "Handle it again" }).click();
  await page.getByRole("dialog").getByText("Not now").waitFor();
  await page.getByRole("button", { name: "Handle it again" }).click();
  await expect.poll(() => page.getByRole("row", { name: /teapot.*begins a conversation/ }).count()).toBe(2);
  await page.getByRole("button", { name: "Open" }).first().click();
  await page.getByRole("link", { name: "Read the conversation" }).click();
  await page.locator(".reply").first().waitFor();

  await page.goto(`${server.url}/#/agents/assistant/room/backlog`);
  await page.getByRole("heading", { name: "Nothing is in the backlog" }).waitFor();
  await page.goto(`${server.url}/#/agents/assistant/room/sources`);
  await page.getByRole("button", { name: "Another address" }).click();
  await page.getByRole("button", { name: "Give another address" }).click();
  await page.getByText("The source has another address").waitFor();
  expect(await (await post({ Authorization: `Bearer ${key}` })).json()).toEqual({ ok: false, error: "unknown token" });
  // The refusal of the minutes is the only answer that the browser reports.
  expect(complaints.filter((text) => !/400 \(Bad Request\)|409 \(Conflict\)/.test(text))).toEqual([]);
});

browserTest("a task is planned, runs at once, and tells how it went", async () => {
  const { server, page, complaints } = await open("tasks");
  await page.getByRole("heading", { name: "No tasks yet" }).waitFor();
  await page.getByRole("button", { name: "New task" }).click();
  await page.getByLabel("Name").fill("Morning report");
  await page.getByLabel("What the agent is told").fill("Summarise the orders of yesterday.");
  await page.getByLabel("Times").fill("99 9 * * *");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").getByRole("alert").waitFor();
  await page.getByLabel("Times").fill("30 9 * * 1-5");
  await page.getByText("on working days at 09:30.").waitFor();
  await looksRight(page, "task");
  await save(page);
  await page.getByText("on working days at 09:30").waitFor();
  await page.getByRole("button", { name: "Run now" }).click();
  const run = page.getByRole("table", { name: "Runs" }).getByRole("row", { name: /completed/ });
  await run.waitFor();
  await looksRight(page, "tasks");
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("It is not due again.").waitFor();
  await run.getByRole("link").click();
  await page.locator(".reply", { hasText: "Summarise the orders" }).waitFor();

  // A time with more precision than a field shows stays until it is edited.
  const { token } = await createAgentEngine({ baseUrl: server.url }).signIn({ body: owner });
  const engine = createAgentEngine({ baseUrl: server.url, token });
  const schedule = { type: "one-shot", runAt: new Date(Date.now() + 86_412_345).toISOString() } as const;
  await engine.createScheduledTask({ slug: "assistant", body: { name: "Once", prompt: "Say hello.", schedule } });
  await page.goto(`${server.url}/#/agents/assistant/tasks`);
  const once = page.locator("section", { has: page.getByRole("heading", { name: "Once", exact: true }) }).last();
  await once.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Name").fill("Once only");
  // Input outlives a reload.
  page.once("dialog", (dialog) => dialog.accept());
  await page.reload();
  await once.getByRole("button", { name: "Edit" }).click();
  expect(await page.getByLabel("Name").inputValue()).toBe("Once only");
  await save(page);
  await page.getByRole("heading", { name: "Once only" }).waitFor();
  const { scheduledTasks } = await engine.listScheduledTasks({ slug: "assistant" });
  expect(scheduledTasks.find(({ name }) => name === "Once only")?.schedule).toEqual(schedule);
  expect(complaints.filter((text) => !text.includes("400 (Bad Request)"))).toEqual([]);
});
