import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { messages } from "../../../src/db/schema.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { address, conversationHarness, plant, root } from "./conversations.ts";

const parrot = () => scriptedModel((call) => reply(`I heard: ${JSON.stringify(call.prompt.at(-1)?.content)}`));

describe("a search", () => {
  test("finds words of messages, of both sides, in any case, the last by its beginning", async () => {
    const h = await conversationHarness(scriptedModel(() => reply("The Zeppelin leaves at noon.")));
    const ref = await h.say("When does the FERRY leave?");
    await plant(h, ["Something else entirely", "Cherry pie"]);
    for (const search of ["ferry", "FERRY leave", "leave ferr", "zeppelin", "zepp", " noon "]) {
      const { conversations: found, total } = await h.list({ search });
      expect([search, total, found.map(({ conversationId }) => conversationId)]).toEqual([search, 1, [ref]]);
    }
    // No message has all of these words.
    for (const search of ["ferr leaves", "ferry zeppelin", "herry", "train"]) {
      expect([search, (await h.list({ search })).total]).toEqual([search, 0]);
    }
  });

  test("finds words beyond ASCII in any case, on every database", async () => {
    const h = await conversationHarness();
    await plant(h, ["Frische ÄPFEL kaufen", "Где Москва", "été à Besançon", "東京 タワー"]);
    for (const search of ["äpfel", "Äpfel", "ÄPF", "москва", "МОСКВА", "Москв", "ÉTÉ", "été", "besançon", "東京"]) {
      expect([search, (await h.list({ search })).total]).toEqual([search, 1]);
    }
  });

  test("finds part of a title, which says no snippet", async () => {
    const h = await conversationHarness();
    const ref = await h.say("Hello");
    const json = { title: "100% Über_Rechnung (C++)" };
    expect((await h.request(address(ref), { method: "PATCH", headers: h.admin, json })).status).toBe(200);
    for (const search of ["rechnung", "über_r", "ÜBER", "100%", "%", "c++", "++"]) {
      const { conversations: found } = await h.list({ search });
      expect([search, found.map(({ snippet }) => snippet)]).toEqual([search, [null]]);
    }
    for (const search of ["_ber", "0_%", "&&"]) expect((await h.list({ search })).total).toBe(0);
  });

  test("an empty one is none", async () => {
    const h = await conversationHarness();
    await h.say("Hello");
    expect((await h.list({ search: "" })).total).toBe(1);
    expect((await h.list({ search: " \t " })).total).toBe(1);
  });

  test("joins the other filters, and is paged", async () => {
    const h = await conversationHarness();
    await plant(
      h,
      Array.from({ length: 5 }, (_, n) => `ferry number ${n}`),
    );
    await plant(h, ["ferry by night"], { channel: "telegram" });
    expect((await h.list({ search: "ferry", channel: "telegram" })).total).toBe(1);
    const page = await h.list({ search: "ferry", limit: 2, offset: 1 });
    expect(page).toMatchObject({ total: 6, limit: 2, offset: 1 });
    expect(page.conversations).toHaveLength(2);
    const beyond = await h.list({ search: "ferry", limit: 100, offset: 2_147_483_647 });
    expect(beyond).toMatchObject({ conversations: [], total: 6 });
  });

  test.each([
    "'",
    "''",
    "a'b",
    "\\",
    "x\\",
    ":*",
    "&|!",
    "a & | ! b",
    "foo:*B",
    "<-> x",
    "( a",
    "x:ABCD",
    "%",
    "$1",
    '{"a","b"}',
    "\u202e",
    "😀",
    "a\u0301",
    "﷽",
    "!!!!".repeat(20).concat("a"),
    "ΐ".repeat(256),
    "x ".repeat(128),
    "'; drop table messages; --",
    "user@example.com https://example.com/a?b=c#d -1.5e3 foo-bar_baz /usr/local/bin",
  ])("of %j harms nothing", async (search) => {
    const h = await conversationHarness();
    await h.say("Hello");
    expect(await h.list({ search })).toMatchObject({ total: 0 });
  });

  test.each(["\u0000", "x".repeat(257), "x".repeat(10_000)])("that can't be one is a 400", async (search) => {
    const h = await conversationHarness();
    expect((await h.get(`${root}?search=${encodeURIComponent(search)}`)).status).toBe(400);
  });

  test("finds addresses, paths and joined words as they are written", async () => {
    const h = await conversationHarness();
    await plant(h, ["write to ada@example.com, see https://example.org/docs and run foo-bar with don't"]);
    for (const search of ["ada@example.com", "example.org", "example.org/docs", "foo-bar", "bar", "don't"]) {
      expect([search, (await h.list({ search })).total]).toEqual([search, 1]);
    }
  });
});

describe("a snippet", () => {
  const snippets = async (h: Awaited<ReturnType<typeof conversationHarness>>, search: string) =>
    (await h.list({ search })).conversations.map(({ snippet }) => snippet);

  test("shows the text around the match, of the newest message that has it", async () => {
    const h = await conversationHarness(parrot());
    await h.say("ferry old");
    await h.say("nothing");
    expect(await snippets(h, "ferry")).toEqual([expect.stringContaining("I heard:")]);
    expect(await snippets(h, "noth")).toEqual([expect.stringContaining("nothing")]);
  });

  test("is short plain text on one line, with whole words", async () => {
    const h = await conversationHarness();
    await plant(h, [`${"before ".repeat(2_000)}\n\n<b>needle</b>\n${"after ".repeat(2_000)}`]);
    const [snippet] = await snippets(h, "needle");
    expect(snippet).toMatch(/^… before .*<b>needle<\/b> after .* after …$/);
    expect(snippet?.length).toBeLessThanOrEqual(200);
  });

  test("begins at a word rather than within one", async () => {
    const h = await conversationHarness();
    await plant(h, [`Start restarting ${"x ".repeat(200)} art for all`]);
    expect(await snippets(h, "art")).toEqual([expect.stringMatching(/^… .*x art for all$/)]);
  });

  test("finds the match's position beyond ASCII", async () => {
    const h = await conversationHarness();
    await plant(h, [`${"früh ".repeat(100)} FRISCHE ÄPFEL ${"spät ".repeat(100)}`]);
    expect(await snippets(h, "äpfel")).toEqual([expect.stringContaining("FRISCHE ÄPFEL")]);
  });

  test("is never more than 200 characters of a huge message without a space", async () => {
    const h = await conversationHarness();
    await plant(h, ["hit"]);
    await h.db.update(messages).set({ content: `hit ${"😀".repeat(100_000)}` });
    const [snippet] = await snippets(h, "hit");
    expect(snippet?.length).toBeLessThanOrEqual(200);
    expect(snippet).toMatch(/^hit/);
  });

  test("is of its own conversation", async () => {
    const h = await conversationHarness();
    await plant(h, ["ferry one", "ferry two"]);
    const { conversations: found } = await h.list({ search: "ferry" });
    for (const { id, snippet } of found) {
      const [message] = await h.db
        .select()
        .from(messages)
        .where(eq(messages.conversationId, String(id)));
      expect(snippet).toBe(message?.content);
    }
    expect(found).toHaveLength(2);
  });
});
