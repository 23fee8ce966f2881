import { expect, test } from "vitest";
import { dataDirectory, quickstart } from "../runtime/program.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight } from "./panel.ts";

const browserTest = test.skipIf(!hasBrowser);

browserTest("a call waits in the inbox of approvals, is decided there, and is read in its conversation", async () => {
  const password = "correct horse battery";
  const server = await quickstart({
    DATA_DIR: dataDirectory(),
    OWNER_EMAIL: "ada@example.com",
    OWNER_PASSWORD: password,
  });
  const page = await openPage();
  const complaints = watch(page, server.url);
  await page.goto(`${server.url}/#/approvals`);
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  // The address that somebody came for is still there after the sign-in.
  await page.getByRole("heading", { name: "Nothing waits" }).waitFor();
  await looksRight(page, "approvals-none");

  const tools = { enabled: ["readSkill", "currentTime"], needsApproval: ["currentTime"] };
  const status = await page.evaluate(
    async (body) =>
      (
        await fetch("api/instances/assistant/tools", {
          method: "PATCH",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
        })
      ).status,
    tools,
  );
  expect(status).toBe(200);
  await page.goto(`${server.url}/#/agents/assistant`);
  await page.getByLabel("Message to assistant").fill('call currentTime {"timezone":"Europe/Zurich"}');
  await page.keyboard.press("Enter");
  await page.getByText("waits for you").waitFor();
  await looksRight(page, "playground-approval");

  await page.getByRole("link", { name: "Approvals" }).click();
  await page.getByRole("heading", { name: "currentTime" }).waitFor();
  expect(await page.getByRole("region", { name: "Arguments" }).textContent()).toContain("Europe/Zurich");
  await looksRight(page, "approvals");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("heading", { name: "Nothing waits" }).waitFor();

  await page.getByRole("link", { name: "Conversations" }).click();
  await page.getByLabel("Search").fill("no such words");
  await page.getByRole("heading", { name: "Nothing was found" }).waitFor();
  await page.getByLabel("Search").fill("currentTime");
  await page.getByRole("row").nth(1).waitFor();
  await looksRight(page, "conversations");
  await page.getByRole("row").nth(1).getByRole("link").click();
  // The call was made once it was approved.
  await expect
    .poll(async () => {
      await page.reload();
      await page.locator(".reply").first().waitFor();
      return page.getByText("done", { exact: true }).count();
    })
    .toBeGreaterThan(0);
  await looksRight(page, "conversation");

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete the conversation" }).click();
  await page
    .getByRole("heading", { name: "Nothing was found" })
    .or(page.getByRole("heading", { name: "No conversations yet" }))
    .waitFor();
  expect(complaints).toEqual([]);
});
