import { describe, expect, test } from "vitest";
import type { SubjectKey } from "../../../src/core/channels/subjects.ts";
import { memoryTools } from "../../../src/features/memories/index.ts";
import type { Tool, ToolContext } from "../../../src/turn/types.ts";
import { toolContext } from "../../turn/input.ts";
import { converse, memoryHarness } from "./memories.ts";

async function withTools(fields: Record<string, unknown> = {}) {
  const h = await memoryHarness(fields);
  const { conversationId, ref } = await converse(h, [["Hi", "Hello"]]);
  const tools = new Map(memoryTools(h.services, { ...h.agent, iconVersion: null }).map((tool) => [tool.name, tool]));
  const context = (subject: SubjectKey, more: Partial<ToolContext> = {}) =>
    toolContext({ origin: { ...toolContext().origin, subject }, conversation: { id: conversationId, ref }, ...more });
  const call = async (name: string, args: unknown, given = context("web:ada")) => {
    const tool = tools.get(name) as Tool;
    return tool.execute(tool.validate(args), given);
  };
  return { ...h, ref, context, call };
}

describe("saveMemory", () => {
  test("remembers about the end user of the turn, with where it was said", async () => {
    const h = await withTools();
    expect(await h.call("saveMemory", { content: " Likes tea " })).toEqual({
      event: "ADD",
      memory: { content: "Likes tea", category: "general", importance: 5 },
    });
    expect(await h.call("saveMemory", { content: "likes tea!", category: "drinks", importance: 8 })).toEqual({
      event: "UPDATE",
      memory: { content: "likes tea!", category: "drinks", importance: 8 },
    });
    expect((await h.list()).memories).toMatchObject([{ subject: "ada", sourceConversationId: h.ref }]);
  });

  test("keeps nothing where nothing is stored, for an anonymous user, or where memory is off", async () => {
    const h = await withTools();
    const content = "Likes tea";
    const unstored = h.call("saveMemory", { content }, h.context("web:ada", { conversation: null }));
    await expect(unstored).rejects.toThrow("Nothing of this conversation is stored");
    await expect(h.call("saveMemory", { content }, h.context(""))).rejects.toThrow("not known whom");
    const off = memoryTools(h.services, { ...h.agent, iconVersion: null, memoryEnabled: false });
    for (const tool of off) {
      await expect(tool.execute({ content, query: "tea" }, h.context("web:ada"))).rejects.toThrow("turned off");
    }
    expect(await h.rows()).toEqual([]);
  });

  test.each([
    {},
    { content: " " },
    { content: "x".repeat(4_001) },
    { content: "x", importance: 11 },
    { content: "x", category: "x".repeat(65) },
  ])("%j is told to be wrong", async (args) => {
    const h = await withTools();
    await expect(h.call("saveMemory", args)).rejects.toThrow("The arguments are not valid");
  });
});

describe("searchMemory", () => {
  test("finds the matching memories of the turn's end user, and of no other", async () => {
    const h = await withTools();
    await h.call("saveMemory", { content: "Likes green tea", importance: 7 });
    await h.call("saveMemory", { content: "canary-bob's tea" }, h.context("web:bob"));
    expect(await h.call("searchMemory", { query: "tea" })).toEqual({
      memories: [
        { content: "Likes green tea", category: "general", importance: 7, updatedAt: expect.stringMatching(/Z$/) },
      ],
    });
    expect(await h.call("searchMemory", { query: "weather" })).toEqual({ memories: [] });
    // Reading needs no stored conversation.
    const unstored = h.context("web:bob", { conversation: null });
    expect(await h.call("searchMemory", { query: "tea" }, unstored)).toMatchObject({
      memories: [{ content: "canary-bob's tea" }],
    });
  });

  test("gives 5 unless asked for more, at most 20", async () => {
    const h = await withTools();
    for (let n = 0; n < 25; n += 1) await h.save(`Tea number ${n}`);
    const count = async (args: object) =>
      ((await h.call("searchMemory", { query: "tea", ...args })) as { memories: unknown[] }).memories.length;
    expect([await count({}), await count({ limit: 20 })]).toEqual([5, 20]);
    await expect(count({ limit: 21 })).rejects.toThrow("limit");
  });
});
