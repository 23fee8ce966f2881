import { expect, test } from "vitest";
import { cuttingProxy } from "../cutting-proxy.ts";
import { chat } from "../runtime/program.ts";
import { hasBrowser, openPage } from "./browser.ts";
import { looksRight, signIn } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };

browserTest("activity goes on behind a broken connection, and a conversation grows while it is read", async () => {
  const back = Promise.withResolvers<null>();
  let streams = 0;
  const proxy = await cuttingProxy("", ({ path }) => {
    if (!path.includes("/api/activity-stream/")) return null;
    streams += 1;
    return streams === 1 ? 3 : back.promise;
  });
  const server = await startServer({
    OWNER_EMAIL: owner.email,
    OWNER_PASSWORD: owner.password,
    BASE_URL: proxy.url,
  });
  proxy.target = server.url;
  const say = async (text: string) => {
    expect((await chat({ url: server.url, key: server.key, text, chatId: "tea" })).status).toBe(200);
  };
  const page = await openPage();
  await page.addInitScript(`{
    const format = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, "format");
    globalThis.timesWritten = 0;
    Object.defineProperty(Intl.DateTimeFormat.prototype, "format", {
      ...format,
      get() {
        timesWritten += 1;
        return format.get.call(this);
      },
    });
  }`);
  await page.goto(`${proxy.url}/#/activity`);
  await signIn(page, owner);
  await page.getByRole("heading", { name: "Nothing happens" }).waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  await looksRight(page, "activity-none");

  await say("The first message");
  await page.getByText("connection lost").waitFor();
  await say("The second message");
  back.resolve(null);
  const lines = page.getByRole("list", { name: "What happened" }).getByRole("listitem");
  await lines.filter({ hasText: "The second message" }).first().waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  // Each message is shown once, and the newest first.
  const inbound = page.locator(".activity [data-kind=inbound]");
  await expect
    .poll(async () => (await inbound.allTextContents()).map((text) => /The (\w+) message/.exec(text)?.[1]))
    .toEqual(["second", "first"]);
  await looksRight(page, "activity");

  await page.getByRole("button", { name: "Pause" }).click();
  await say("While it was paused");
  await page.getByRole("button", { name: /Go on \(\d+ new\)/ }).click();
  await lines.filter({ hasText: "While it was paused" }).first().waitFor();
  // A line is rendered once, with its short and its long time, however many follow.
  expect(await page.evaluate("timesWritten")).toBe(2 * (await lines.count()));
  await page.getByLabel("What", { exact: true }).selectOption("tool");
  await page.getByRole("heading", { name: "Nothing happens" }).waitFor();

  await page.goto(`${proxy.url}/#/conversations/${encodeURIComponent("assistant:web:api-tea")}`);
  await page.getByText("live", { exact: true }).waitFor();
  await say("Read me while I come");
  await page.locator(".question", { hasText: "Read me while I come" }).waitFor();
  await page.locator(".reply", { hasText: "You said: Read me while I come" }).waitFor();
});

browserTest("memories are told, found, forgotten and taken back", async () => {
  const server = await startServer({
    OWNER_EMAIL: owner.email,
    OWNER_PASSWORD: owner.password,
  });
  const page = await openPage();
  await page.goto(`${server.url}/#/memories`);
  await signIn(page, owner);
  await page.getByRole("heading", { name: "Nothing is remembered yet" }).waitFor();
  for (const [fact, whose] of [
    ["Prefers tea without sugar.", "ada"],
    ["Lives in Zurich.", "bob"],
  ] as const) {
    await page.getByRole("button", { name: "New memory" }).click();
    await page.getByLabel("Fact").fill(fact);
    await page.getByRole("dialog").getByLabel("End user (optional)").fill(whose);
    await page.getByRole("button", { name: "Remember" }).click();
    await page.getByRole("row", { name: new RegExp(fact) }).waitFor();
  }
  await looksRight(page, "memories");
  await page.getByLabel("Search").fill("sugar");
  await page.getByRole("row", { name: /Zurich/ }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Forget", exact: true }).click();
  await page.getByRole("heading", { name: "Nothing was found" }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("row", { name: /sugar/ }).waitFor();
  await page.goto(`${server.url}/#/memories?agent=assistant`);
  await page.getByRole("button", { name: "Forget all" }).click();
  await page.getByLabel("Type assistant to go on").fill("assistant");
  await page.getByRole("button", { name: "Delete all" }).click();
  await page.getByText("2 memories are deleted").waitFor();
});
