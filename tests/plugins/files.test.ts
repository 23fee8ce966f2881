import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import type { PluginContext } from "../../src/core/plugins/plugin.ts";
import { linkPluginFile, savePluginFile } from "../../src/features/files/index.ts";
import { filesPlugin } from "../../src/plugins/files/index.ts";
import { filesHarness } from "../features/files/attachments.ts";

/** Calls the tools in a conversation of a real agent. */
async function inConversation(options: { store?: "directory" | "s3" | "none"; stored?: boolean } = {}) {
  const h = await filesHarness(options);
  const request = vi.fn(async () => Promise.reject(new Error("These tools ask nobody")));
  onTestFinished(() => expect(request).not.toHaveBeenCalled());
  const conversationId = options.stored === false ? null : h.home.id;
  const context: PluginContext = {
    signal: new AbortController().signal,
    secrets: {},
    agent: { slug: h.slug, name: "Agent", timezone: "UTC" },
    conversationId,
    now: () => h.clock.now(),
    request,
    saveFile: (file) => savePluginFile(h.services, { agent: h.agent, conversationId, file }),
    linkFile: (id) => linkPluginFile(h.services, { agent: h.agent, conversationId, id }),
  };
  const call = async (name: string, args: JsonObject) => {
    const tool = filesPlugin().tools.find((one) => one.name === name);
    return (await tool?.execute(args, context)) as { id: string; url: string };
  };
  return { ...h, call, download: async (url: string) => (await h.request(url)).text() };
}

describe("files:upload", () => {
  test("saves text and answers a link", async () => {
    const h = await inConversation();
    const saved = await h.call("upload", { name: "plan.md", content: "# Tea ☕" });
    expect(saved).toEqual({
      id: saved.id,
      name: "plan.md",
      mime: "text/plain",
      size: 9,
      url: expect.stringContaining(`/files/${saved.id}?`),
      expiresAt: new Date(h.clock.now() + 86_400_000).toISOString(),
    });
    expect(await h.download(saved.url)).toBe("# Tea ☕");
  });

  test("saves bytes, under their own type", async () => {
    const h = await inConversation();
    const args = { name: "a.bin", content: "3q2+7w==", encoding: "base64" };
    const { id } = await h.call("upload", args);
    expect(h.local.get(id)).toEqual(Uint8Array.of(0xde, 0xad, 0xbe, 0xef));
    expect(await h.call("upload", args)).toMatchObject({ mime: "application/octet-stream" });
    expect(await h.call("upload", { ...args, mime: "application/zip" })).toMatchObject({ mime: "application/zip" });
  });

  test("saves into the agent's bucket", async () => {
    const h = await inConversation({ store: "s3" });
    const { url } = await h.call("upload", { name: "plan.md", content: "tea" });
    const place = (await h.request(url)).headers.get("location") ?? "";
    expect(await (await fetch(place)).text()).toBe("tea");
  });

  test.each([
    [{ content: "x" }, "name is required"],
    [{ name: "", content: "x" }, "name must not be empty"],
    [{ name: "a", content: "%%%", encoding: "base64" }, "content must be base64, as encoding says"],
    [{ name: "a", content: "x", encoding: "hex" }, "encoding must be one of: utf8, base64"],
    [{ name: "a", content: "x".repeat(20 * 1024 * 1024 + 1) }, "A file may have at most 20 MB"],
  ])("refuses what it can't save", async (args, reason) => {
    const h = await inConversation();
    await expect(h.call("upload", args)).rejects.toThrow(reason);
    expect(await h.rows()).toEqual([]);
  });

  test("says why files can't be saved", async () => {
    const args = { name: "a", content: "x" };
    const nowhere = await inConversation({ store: "none" });
    await expect(nowhere.call("upload", args)).rejects.toThrow("set the agent's secrets s3_region, s3_bucket");
    const unstored = await inConversation({ stored: false });
    await expect(unstored.call("upload", args)).rejects.toThrow("its request has no chat_id");
  });
});

describe("files:link", () => {
  test("links anew to what was saved, and to what a person sent", async () => {
    const h = await inConversation();
    const { id } = await h.call("upload", { name: "plan.md", content: "tea" });
    await h.clock.advance(86_400_000);
    expect(await h.download((await h.call("link", { id })).url)).toBe("tea");
    const sent = await h.store();
    expect(await h.call("link", { id: sent.id })).toMatchObject({ name: "note.txt" });
  });

  test("links to no file of another conversation", async () => {
    const h = await inConversation();
    const { id } = await h.store({ conversation: await h.conversation() });
    await expect(h.call("link", { id })).rejects.toThrow("This conversation has no such file");
  });
});

test("no tool asks for approval or reaches a host; the place is optional, and its keys are secret", () => {
  const { hosts, secrets, tools } = filesPlugin();
  expect(hosts).toEqual([]);
  expect(tools.map(({ name, needsApproval, effect }) => [name, needsApproval, effect])).toEqual([
    ["upload", false, "external"],
    ["link", false, "none"],
  ]);
  expect(secrets.map(({ key, optional, sensitive }) => [key, optional, sensitive])).toEqual([
    ["s3_region", true, false],
    ["s3_bucket", true, false],
    ["s3_access_key_id", true, true],
    ["s3_secret_access_key", true, true],
  ]);
});
