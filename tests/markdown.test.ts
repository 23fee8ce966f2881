import { Lexer, type Token } from "marked";
import { describe, expect, test } from "vitest";
import { readMarkdown } from "../src/markdown/read.ts";
import { processorTime } from "./processor-time.ts";

/** The first kind of mark in a text, with the text that has it. */
function marked(tokens: readonly Token[]): Record<string, string> | null {
  for (const token of tokens) {
    if (token.type === "strong" || token.type === "em" || token.type === "del") return { [token.type]: token.text };
    const inner = "tokens" in token && token.tokens ? marked(token.tokens) : null;
    if (inner) return inner;
  }
  return null;
}

describe("bold and struck text", () => {
  test.each([
    ["**重要：**请注意", "重要："],
    ["**「中文」**字", "「中文」"],
    ["中文**「引用」**后", "「引用」"],
    ["这是**“重要”**的", "“重要”"],
    ["これは**注意！**です", "注意！"],
    ["한국어**(강조)**입니다", "(강조)"],
    ["**마크다운(Markdown)**을 쓰세요", "마크다운(Markdown)"],
    ["**步骤1：**Install", "步骤1："],
    ["**𠮷野家（店）**𠮷", "𠮷野家（店）"],
    ["中**`x`**文", "`x`"],
  ])("is seen in %s", (text, strong) => {
    expect(marked(readMarkdown(text))).toEqual({ strong });
  });

  test("is struck there too", () => {
    expect(marked(readMarkdown("~~旧价：~~新价"))).toEqual({ del: "旧价：" });
  });

  test.each([
    "`**「a」**字`",
    "```\n**「a」**字\n```",
    "\\**「a」**字",
    "单价*（数量）*折扣",
    'a**"b"**c',
    "<b title='**「a」**字'>",
    "[字](https://a.example/**「a」**字)",
  ])("is none in %s, of which nothing changes", (text) => {
    expect(readMarkdown(text)).toEqual([...new Lexer({ gfm: true }).lex(text)]);
  });
});

describe("definitions of links", () => {
  const rawOf = (text: string) => readMarkdown(text).map(({ type, raw }) => [type, raw]);

  test.each([
    ["none that no link uses", "[1]: https://a.example\n[2]: https://b.example 'B'"],
    ["none that leads nowhere", "[注意]: 请看"],
    ["none whose label leads nowhere", "[Note]: one"],
  ])("%s is taken for one: it is text", (_, text) => {
    expect(rawOf(text)).toEqual([["paragraph", text]]);
  });

  test("one that a link uses is none, and the others stay text, in lists and quotes too", () => {
    expect(rawOf("[a]: https://a.example\n\n[x][A]").map(([type]) => type)).toEqual(["def", "space", "paragraph"]);
    const [list] = readMarkdown("- one\n\n  [k]: https://k.example\n\n> [q]: https://q.example");
    expect(JSON.stringify(list)).toContain('"text":"[k]: https://k.example"');
  });

  test("a label that is defined twice loses neither", () => {
    const text = JSON.stringify(readMarkdown("[n]: https://a.example\n\n[n]: https://b.example"));
    for (const address of ["https://a.example", "https://b.example"]) expect(text).toContain(address);
  });
});

describe("text that is made to take long", () => {
  const filled = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length));

  test.each([
    ...["_a", "__a__", "a_", "*a ", "**a_b", "~~a ", "[", "![", "[a](", "<", "<a ", "`a``", "\\", "&", "http", "a@"],
    ...["a\n-\n", "- a\n", "- a\n\n", "[a]: https://a\n", "> ", "1. ", "> 1. ", "- > ", "+ ", ">", "a|b\n-|\n"],
    ...["**「", "「**", "字****「", "~~（", "*www.", "__www."],
  ])("such as %j is read in time that grows with its length, and is not lost", (unit) => {
    const time = (length: number) => {
      const taken = processorTime();
      const tokens = readMarkdown(filled(unit, length));
      const time = taken();
      expect(tokens.map(({ raw }) => raw).join("").length).toBeGreaterThan(length / 2);
      return time;
    };
    const times: number[][] = [];
    // A quadratic reader would take sixteen times as long, each time; a collection of garbage may fall into one measurement.
    const growsAsItShould = () => {
      const [short, long] = [time(16_000), time(64_000)];
      times.push([short, long]);
      return long < Math.max(9 * short, 500);
    };
    expect([1, 2, 3].some(growsAsItShould), JSON.stringify(times)).toBe(true);
  });

  test("a long paragraph of ordinary text is read in one go", () => {
    const words = "Some words, then **bold ones** and `code`. ".repeat(20);
    const [paragraph] = readMarkdown(`**${"word ".repeat(3_000)}end** ${words}`);
    expect(marked([paragraph as Token])?.strong).toHaveLength(15_003);
  });
});
