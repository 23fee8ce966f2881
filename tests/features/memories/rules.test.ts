import { describe, expect, test } from "vitest";
import {
  bestMatches,
  chooseRecalled,
  interleave,
  nearDuplicate,
  nextBatch,
  similarity,
} from "../../../src/features/memories/rules.ts";

const known = (...contents: string[]) => contents.map((content) => ({ content }));

describe("near-duplicates", () => {
  test.each([
    ["The user lives in the old town of Bern with a dog", "The user lives in the old town of Bern with a big dog"],
    ["The user is a vegetarian and likes spicy food", "The user is a vegetarian, and likes spicy food!"],
    ["ユーザーは東京の渋谷に住んでいます", "ユーザーは東京の渋谷に住んでいます。"],
    ["ユーザーは東京の渋谷に妻と住んでいます", "ユーザーは東京の渋谷区に妻と住んでいます"],
    [
      "The user likes the old town and walks there every sunny morning",
      "The user likes the old town and walked there every sunny morning",
    ],
    [
      "Has the cheese fondue every Sunday with all her friends",
      "Has a cheese fondue every Sunday with all her friends",
    ],
  ])("%j is as good as %j", (a, b) => {
    expect(nearDuplicate(a, known("Something else", b))?.content).toBe(b);
  });

  test.each([
    ["Likes tea", "Likes coffee"],
    ["Ann is older than Bob", "Bob is older than Ann"],
    [
      "The user's son was born on 5 May 2010 in the hospital of Bern",
      "The user's son was born on 5 May 2012 in the hospital of Bern",
    ],
    [
      "The user's daughter Mia was born in Zurich and likes football",
      "The user's daughter Lea was born in Zurich and likes football",
    ],
    [
      "The user's colleague Li works in the sales team in Basel",
      "The user's colleague Wu works in the sales team in Basel",
    ],
    [
      "The user grew up by the sea in Austria with two brothers and a dog",
      "The user grew up by the sea in Australia with two brothers and a dog",
    ],
    [
      "The user's neighbour Paul has a key of the flat in the old town",
      "The user's neighbour Paula has a key of the flat in the old town",
    ],
    [
      "ユーザーの娘の美咲は東京の渋谷で生まれてサッカーが好きです",
      "ユーザーの娘の陽菜は東京の渋谷で生まれてサッカーが好きです",
    ],
    ["Knows C++", "Knows C"],
    ["", "Likes tea"],
    ["🙂", "🙃"],
    ["Vegetarian", "The user is a vegetarian"],
    ["Anna is allergic to peanuts, milk, eggs and wheat", "Anna is not allergic to peanuts, milk, eggs and wheat"],
    ["Trinkt abends mit Ada und Bob gern Tee", "Trinkt abends mit Ada und Bob nicht gern Tee"],
  ])("%j is not %j", (a, b) => expect(nearDuplicate(a, known(b))).toBeNull());

  test("the nearest wins", () => {
    const list = known("a b c d e f g h i x", "a b c d e f g h i j", "a b c d e f g h i y");
    expect(nearDuplicate("a b c d e f g h i j", list)).toBe(list[1]);
  });

  test("similarity is symmetrical and between 0 and 1", () => {
    const [a, b] = [new Set(["a", "b", "c"]), new Set(["b", "c", "d"])];
    expect([similarity(a, b), similarity(b, a), similarity(a, a), similarity(a, new Set())]).toEqual([0.5, 0.5, 1, 0]);
  });
});

const memory = (content: string, importance = 5, day = 1) => ({
  id: content,
  content,
  importance,
  updatedAt: new Date(Date.UTC(2026, 0, day)),
});
const contents = (list: readonly { content: string }[]) => list.map(({ content }) => content);

describe("the best matches", () => {
  test("have a rare word of the query rather than common ones", () => {
    const list = [
      memory("The user likes the sea"),
      memory("The user likes the mountains"),
      memory("The user is allergic to nuts"),
    ];
    expect(contents(bestMatches("does the user have allergies", list))[0]).toBe("The user is allergic to nuts");
  });

  test("have the word itself rather than one that begins alike", () => {
    const list = [memory("Preferences were asked"), memory("Preferred tea")];
    expect(contents(bestMatches("preferred", list))).toEqual(["Preferred tea", "Preferences were asked"]);
  });

  test("between equals, are the important and the new", () => {
    const list = [memory("tea one", 5, 1), memory("tea two", 5, 2), memory("tea three", 9, 1), memory("coffee", 10)];
    expect(contents(bestMatches("tea", list))).toEqual(["tea three", "tea two", "tea one"]);
  });

  test("of nothing are none", () => {
    expect(bestMatches("", [memory("tea")])).toEqual([]);
    expect(bestMatches("tea", [])).toEqual([]);
  });
});

describe("what is recalled", () => {
  const trivia = Array.from({ length: 20 }, (_, n) => memory(`tea number ${n}`, 2));
  const vital = [memory("Allergic to nuts", 10), memory("Has a heart condition", 9), memory("Speaks German", 8)];

  test("is mostly the best matches, and always the most important ones", () => {
    const recalled = chooseRecalled("tea", [...trivia, ...vital], { limit: 10 });
    expect(recalled).toHaveLength(10);
    expect(recalled.filter(({ content }) => content.startsWith("tea"))).toHaveLength(7);
    expect(contents(recalled)).toEqual(expect.arrayContaining(contents(vital)));
  });

  test("is what matters most when nothing fits, each once", () => {
    expect(contents(chooseRecalled("weather", [...trivia, ...vital], { limit: 3 }))).toEqual(contents(vital));
    expect(chooseRecalled("allergic heart german", vital, { limit: 10 })).toHaveLength(3);
    expect(chooseRecalled("tea", [], { limit: 10 })).toEqual([]);
  });
});

test("memories near in meaning alternate with those that have the words, each once", () => {
  const [a, b, c, d] = [memory("a"), memory("b"), memory("c"), memory("d")];
  expect(contents(interleave([a, b], [c, a, d]))).toEqual(["a", "c", "b", "d"]);
  expect(contents(interleave([], [c, d]))).toEqual(["c", "d"]);
  const copy = { ...memory("Allergic to nuts", 10) };
  expect(contents(chooseRecalled("tea", [memory("tea"), copy], { limit: 3, near: [copy, memory("Drinks")] }))).toEqual([
    "tea",
    "Allergic to nuts",
    "Drinks",
  ]);
});

describe("a batch of messages", () => {
  const said = (count: number, length = 1, subjects = 1) =>
    Array.from({ length: count }, (_, seq) => ({
      seq,
      role: "user" as const,
      content: "x".repeat(length),
      subject: `web:s${seq % subjects}` as const,
    }));
  test.each([
    [said(0), 0],
    [said(40), 40],
    [said(41), 40],
    [said(40, 8_000), 8],
    [said(3, 100_000), 1],
    [said(40, 1, 5), 40],
    [said(40, 1, 6), 5],
  ])("is bounded (%#)", (unread, expected) => {
    expect(nextBatch(unread)).toEqual(unread.slice(0, expected));
  });
});
