import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dataDirectory } from "../runtime/program.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight, signIn } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };

browserTest(
  "a skill is written, turned on, upgraded once its changes were read, rolled back, and deleted",
  async () => {
    const directory = dataDirectory();
    const server = await startServer({ DATA_DIR: directory, OWNER_EMAIL: owner.email, OWNER_PASSWORD: owner.password });
    const page = await openPage();
    const complaints = watch(page, server.url);
    await page.goto(`${server.url}/#/skills`);
    await signIn(page, owner);
    await page.getByRole("heading", { name: "No skills yet" }).waitFor();
    await looksRight(page, "skills-none");

    await page.getByRole("link", { name: "New skill" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Weather");
    await page.getByLabel("Description").fill("How to look up the weather of a place.");
    await page.getByLabel("Text").fill("# Weather\n\nAsk for the **place** first.\n");
    await page.locator(".preview strong").getByText("place").waitFor();
    const tools = page.getByLabel("Tools");
    await tools.fill("httpRequest, ");
    expect(await tools.inputValue()).toBe("httpRequest, ");
    await tools.press("Home");
    await tools.pressSequentially("noSuchTool, ");
    expect(await tools.inputValue()).toBe("noSuchTool, httpRequest, ");
    await page.getByRole("button", { name: "Add a value" }).click();
    await page.getByLabel("Name of the value").fill("WEATHER_TOKEN");
    await page.getByLabel("Hosts that get it").fill("api.example.com");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByText("noSuchTool").first().waitFor();
    await page.getByLabel("Tools").fill("httpRequest");
    await looksRight(page, "skill-new");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByText("Weather is there, and allowed in default").waitFor();
    await looksRight(page, "skill");

    await page.goto(`${server.url}/#/agents/assistant/skills`);
    await page.getByRole("button", { name: "Turn on" }).click();
    await page.getByText("With it: httpRequest").waitFor();
    await page.getByText("It lacks WEATHER_TOKEN").waitFor();
    const secret = "wt-secret-of-the-browser-test";
    await page.getByLabel("WEATHER_TOKEN", { exact: true }).fill(secret);
    await page.getByRole("button", { name: "Store the values" }).click();
    await page.getByText("on, 0.1.0").waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(await page.getByLabel("WEATHER_TOKEN", { exact: true }).inputValue()).toBe("");

    await page.getByRole("link", { name: "In the catalogue" }).click();
    await page.getByLabel("Text").fill("# Weather\n\nAsk for the **place** and the day first.\n");
    await page.getByLabel("What changed").fill("Asks for the day.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".page-head .badge").getByText("0.2.0").waitFor();
    await page.getByLabel("What changed").waitFor({ state: "detached" });
    await page.getByText("Changes are not saved yet.").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Versions" }).click();
    await page.locator(".diff .added").getByText("and the day").waitFor();
    await looksRight(page, "skill-versions");

    await page.goto(`${server.url}/#/agents/assistant/skills`);
    await page.getByRole("button", { name: "Upgrade to 0.2.0" }).click();
    await page.locator(".diff .removed").getByText("**place** first").waitFor();
    await looksRight(page, "skill-upgrade");
    await page.getByRole("button", { name: "Take 0.2.0" }).click();
    await page.getByText("on, 0.2.0").waitFor();
    await page.getByRole("button", { name: "Another version" }).click();
    // An element that appears while a button is pressed would move it from under the pointer.
    const held = Promise.withResolvers<void>();
    await page.route("**/versions/0.1.0", async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByLabel("Version", { exact: true }).selectOption("0.1.0");
    const roll = page.getByRole("button", { name: "Use this version" });
    await page.locator(".dialog .waiting").waitFor();
    expect(await roll.isDisabled()).toBe(true);
    held.resolve();
    await roll.click();
    await page.getByText("on, 0.1.0").waitFor();
    await page.getByRole("button", { name: "Put into every prompt" }).click();
    await page.getByText("in every prompt").waitFor();
    await looksRight(page, "agent-skills");

    // The exported archive can be imported, and an invalid one is refused.
    await page.goto(`${server.url}/#/skills/weather`);
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).click(),
    ]);
    const exported = join(directory, "weather.json");
    await saved.saveAs(exported);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByLabel("Type weather to go on").fill("weather");
    await page.getByRole("button", { name: "Delete the skill" }).click();
    await page.getByRole("heading", { name: "No skills yet" }).waitFor();
    const broken = join(directory, "broken.zip");
    writeFileSync(broken, "no archive");
    await page.getByLabel("File with skills").setInputFiles(broken);
    await page.getByRole("heading", { name: "Nothing was imported" }).waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByLabel("File with skills").setInputFiles(exported);
    await page.getByRole("heading", { name: "Imported", exact: true }).waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("link", { name: "Weather" }).click();
    await page.locator(".page-head .badge").getByText("0.2.0").waitFor();
    expect(complaints.filter((text) => !text.includes("400 (Bad Request)"))).toEqual([]);
  },
);
