import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createAgentEngine } from "../../src/client/index.ts";
import { telegramServer, telegramToken } from "../messengers/telegram-server.ts";
import { dataDirectory } from "../runtime/program.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight, signIn } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };

/** A picture of one pixel. */
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

async function open(path: string, settings: Record<string, string> = {}) {
  const directory = dataDirectory();
  const server = await startServer({
    DATA_DIR: directory,
    OWNER_EMAIL: owner.email,
    OWNER_PASSWORD: owner.password,
    ...settings,
  });
  const page = await openPage();
  const complaints = watch(page, server.url);
  await page.goto(`${server.url}/#/agents/${path}`);
  await signIn(page, owner);
  return { server, page, complaints, directory };
}

browserTest("a messenger is set up step by step, tested, and tells how it is", async () => {
  const telegram = await telegramServer();
  onTestFinished(() => telegram.close());
  const { page, complaints } = await open("assistant/channels", { TELEGRAM_API_BASE_URL: telegram.base });
  const origins = page.getByLabel("Origins whose pages may call it");
  await origins.fill("https://www.example.com nothing");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await origins.and(page.locator("[aria-invalid=true]")).waitFor();
  await origins.fill("https://www.example.com");
  await page.getByLabel("What a call may tell").fill("customerId");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("“customerId” should be as").waitFor();
  await page.getByLabel("What a call may tell").fill("customerId = customer.id");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const card = page.getByRole("region", { name: "Telegram" });
  await card.getByRole("button", { name: "Set up" }).click();
  await looksRight(page, "channels-setup");
  await card.getByLabel("Token of the bot").fill("123456789:AAWrongTokenOfAnotherBot01234567890ab");
  await card.getByRole("button", { name: "Save and turn on" }).click();
  await card.getByText("failing").waitFor();
  await card.getByRole("button", { name: "Close" }).click();
  await card.getByRole("button", { name: "Save and turn on" }).waitFor({ state: "detached" });
  const list = await page.context().newPage();
  await list.goto(page.url().replace("/assistant/channels", ""));
  await list.getByText("Telegram fails").waitFor();
  await list.close();
  await card.getByRole("button", { name: "Settings" }).click();
  await card.getByRole("alert").waitFor();
  await card.getByLabel("Token of the bot").fill(telegramToken);
  await card.getByLabel("People who are answered").fill("4711");
  await card.getByRole("button", { name: "Save and turn on" }).click();
  await card.getByText("running").waitFor();
  await card.getByRole("button", { name: "Test" }).click();
  await card.getByText("Credentials: fine.").waitFor();
  expect(await page.content()).not.toContain(telegramToken);
  await page.reload();
  await card.getByText("Nobody has written yet.").waitFor();

  await telegram.say("Hello from Telegram");
  await expect.poll(() => telegram.sent.length, { timeout: 20_000 }).toBe(1);
  await card.getByText("Messages", { exact: true }).click();
  await card.getByRole("row", { name: /Hello from Telegram.*done/ }).waitFor();
  await looksRight(page, "channels");
  await card.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Remove the channel" }).click();
  await card.getByRole("button", { name: "Set up" }).waitFor();

  await page.getByRole("region", { name: "Slack" }).getByRole("button", { name: "Set up" }).click();
  await page.getByRole("region", { name: "Manifest" }).getByText("socket_mode_enabled: true").waitFor();
  await page.getByRole("region", { name: "WhatsApp" }).getByRole("button", { name: "Set up" }).click();
  await page.getByRole("region", { name: "WhatsApp" }).getByLabel("Number of the sender").fill("12");
  await page.getByRole("region", { name: "WhatsApp" }).getByRole("button", { name: "Save and turn on" }).click();
  await page
    .getByText(/E\.164|must be/)
    .first()
    .waitFor();
  expect(complaints.filter((text) => !text.includes("400 (Bad Request)"))).toEqual([]);
});

browserTest("secrets and hooks are kept, and an agent is copied with its picture", async () => {
  const { page, server, complaints, directory } = await open("assistant/secrets");
  const secret = "sk-of-the-browser-test";
  await page.getByLabel("Key", { exact: true }).fill("openai_api_key");
  await page.getByLabel("Value", { exact: true }).fill(secret);
  await page.getByRole("button", { name: "Store" }).click();
  await page.getByRole("row", { name: /openai_api_key/ }).waitFor();
  expect(await page.content()).not.toContain(secret);
  await looksRight(page, "secrets");
  await page
    .getByRole("row", { name: /openai_api_key/ })
    .getByRole("button")
    .click();
  await page.getByRole("button", { name: "Delete the secret" }).click();
  await page.getByRole("row", { name: /openai_api_key/ }).waitFor({ state: "detached" });

  await page.getByRole("link", { name: "Hooks" }).click();
  await page.getByRole("button", { name: "New hook" }).click();
  await page.getByLabel("Tool", { exact: true }).fill("currentTime");
  await page.getByLabel("What it is called with").fill("{");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("is not JSON").waitFor();
  await page.getByLabel("What it is called with").fill('{"timezone": "Europe/Zurich"}');
  await looksRight(page, "hook");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("row", { name: /currentTime/ }).waitFor();
  await page.getByRole("button", { name: "Turn off" }).click();
  await page.getByText("The hook is off").waitFor();
  await looksRight(page, "hooks");

  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByLabel("People can stop and resume it by a word").check();
  await page.getByLabel("Words that stop it").fill("stop, enough,");
  await page.getByLabel("Temperature").fill("0.75");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  // Another person's change meanwhile is not overwritten unseen.
  const { token } = await createAgentEngine({ baseUrl: server.url }).signIn({ body: owner });
  const other = createAgentEngine({ baseUrl: server.url, token });
  await other.updateAgent({ slug: "assistant", body: { description: "Changed meanwhile." } });
  await page.getByLabel("Said to who stops it").fill("Bye.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("was changed meanwhile").waitFor();
  await page.getByText("Changed meanwhile.").first().waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("was changed meanwhile").waitFor({ state: "detached" });
  await page.reload();
  await expect.poll(() => page.getByLabel("Said to who stops it").inputValue()).toBe("Bye.");
  await expect.poll(() => page.getByLabel("Words that stop it").inputValue()).toBe("stop, enough");
  await looksRight(page, "settings-all");
  const file = { name: "icon.png", mimeType: "image/png", buffer: picture };
  await page.getByLabel("File with the picture").setInputFiles({ ...file, buffer: Buffer.from("no picture") });
  await page.getByRole("region", { name: "Picture" }).getByRole("alert").waitFor();
  await page.getByLabel("File with the picture").setInputFiles(file);
  await page.getByRole("button", { name: "Another picture" }).waitFor();
  await page.getByRole("button", { name: "Duplicate" }).click();
  await page.getByLabel("Its name in addresses").press("Enter");
  await page.getByRole("heading", { name: "assistant-copy is there" }).waitFor();
  await looksRight(page, "duplicate");
  await page.getByRole("button", { name: "Done" }).click();
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export" }).click(),
  ]);
  const bundle = join(directory, "assistant.json");
  await saved.saveAs(bundle);
  await page.goto(`${server.url}/#/agents/assistant-copy`);
  await page.getByRole("link", { name: "Hooks" }).click();
  await page.getByRole("row", { name: /currentTime/ }).waitFor();

  await page.goto(`${server.url}/#/agents`);
  const broken = join(directory, "broken.json");
  writeFileSync(broken, '{"version": "9"}');
  await page.getByLabel("File: Import").setInputFiles(broken);
  await page.getByRole("heading", { name: "Nothing was imported" }).waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByLabel("File: Import").setInputFiles(bundle);
  await page.getByRole("heading", { name: "assistant-imported is imported" }).waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await expect.poll(() => page.locator("img.agent-icon").count()).toBe(3);
  await looksRight(page, "agents");
  expect(complaints.filter((text) => !/ (400|412) \(/.test(text))).toEqual([]);
});
