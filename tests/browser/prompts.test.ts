import { expect, test } from "vitest";
import { createAgentEngine } from "../../src/client/index.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight, signIn } from "./panel.ts";
import { startServer } from "./server.ts";

const owner = { email: "ada@example.com", password: "correct horse battery" };
const slug = "assistant";

test.skipIf(!hasBrowser)("shows a prompt that somebody else saved meanwhile, before it is replaced", async () => {
  const { url } = await startServer({
    OWNER_EMAIL: owner.email,
    OWNER_PASSWORD: owner.password,
  });
  const { token } = await createAgentEngine({ baseUrl: url }).signIn({ body: owner });
  const other = createAgentEngine({ baseUrl: url, token });
  const saveElsewhere = (key: "01-identity" | "02-soul", content: string) =>
    other.savePrompts({ slug, body: { sections: [{ key, content }] } });
  const stored = async () => (await other.listPrompts({ slug })).prompts.find(({ key }) => key === "01-identity");
  const page = await openPage();
  const complaints = watch(page, url);
  await page.goto(`${url}/#/agents/${slug}/prompts`);
  await signIn(page, owner);
  const text = page.getByLabel("Identity", { exact: true });
  const save = page.getByRole("button", { name: "Save", exact: true });
  const changed = page.getByText("was changed meanwhile");
  const warning = page.getByText("Somebody else has saved another text.");

  await text.fill("You are mine.");
  await saveElsewhere("01-identity", "You are theirs.");
  await save.click();
  await changed.waitFor();
  await warning.waitFor();
  await page
    .getByRole("region", { name: /^Identity:/ })
    .getByText("You are theirs.")
    .waitFor();
  expect((await stored())?.content).toBe("You are theirs.");
  await looksRight(page, "prompts-of-two");
  await page.getByRole("button", { name: "Take the saved text of Identity" }).click();
  expect(await text.inputValue()).toBe("You are theirs.");
  await warning.waitFor({ state: "detached" });
  await save.waitFor({ state: "detached" });

  // A draft restored after a reload is still based on the earlier text.
  await text.fill("You are mine again.");
  await saveElsewhere("01-identity", "You are theirs again.");
  page.once("dialog", (dialog) => dialog.accept());
  await page.reload();
  await warning.waitFor();
  await save.click();
  await page.getByText("Saved", { exact: true }).waitFor();
  expect((await stored())?.content).toBe("You are mine again.");
  await warning.waitFor({ state: "detached" });

  // Another section's change causes no question about a difference.
  await text.fill("You are mine alone.");
  await saveElsewhere("02-soul", "Calm.");
  await save.click();
  await changed.waitFor();
  expect(await warning.count()).toBe(0);
  await save.click();
  await changed.waitFor({ state: "detached" });
  expect((await stored())?.content).toBe("You are mine alone.");
  expect(complaints.filter((complaint) => !complaint.includes("412 ("))).toEqual([]);
});
