import { describe, expect, test } from "vitest";
import { indexTerms, wordsOf } from "../../../src/core/text/words.ts";
import { processorTime } from "../../processor-time.ts";

describe("words", () => {
  test.each([
    ["Ärger im CAFÉ, oder?", ["arger", "im", "cafe", "oder"]],
    ["ПРИВЕТ, Йод Ёлка", ["привет", "иод", "елка"]],
    ["C++ and C# are not C", ["c++", "and", "c#", "are", "not", "c"]],
    ["born 2010-05-01 at 10:30", ["born", "2010", "05", "01", "at", "10", "30"]],
    ["ＦＵＬＬ　ｗｉｄｔｈ", ["full", "width"]],
    ["東京タワーへ", ["東京", "京タ", "タワ", "ワー", "ーへ"]],
    ["猫", ["猫"]],
    ["iPhoneを使う", ["iphone", "を使", "使う"]],
    ["한국어 단어", ["한국어", "단어"]],
    ["हिन्दी भाषा", ["हिन्दी", "भाषा"]],
    ["𠮷野家", ["𠮷野", "野家"]],
    ["'); drop table -- & | ! <-> :*", ["drop", "table"]],
    ["🙂 … !?", []],
    ["", []],
  ])("of %j", (text, words) => expect(wordsOf(text)).toEqual(words));

  test("are cut where they are too long for an index", () => {
    expect(wordsOf("x".repeat(5_000))).toEqual(["x".repeat(64)]);
  });

  test("of a long text are found in time that grows with it", () => {
    const taken = processorTime();
    const texts = ["ab ".repeat(100_000), "東".repeat(300_000), "a+".repeat(100_000), "+".repeat(300_000)];
    for (const text of [...texts, `a${"\u0301\u0323".repeat(150_000)}`, "\uFDFA".repeat(300_000)]) {
      wordsOf(text);
      indexTerms(text);
    }
    expect(taken()).toBeLessThan(5_000);
  });

  test("are counted: what follows the first 40,000, or 200,000 characters, is no word", () => {
    expect(wordsOf("ab ".repeat(50_000))).toHaveLength(40_000);
    expect(wordsOf(`${"abcdefghi ".repeat(20_000)}late`)).toHaveLength(20_000);
  });

  test("are the same wherever a part of the text ends", () => {
    for (let before = 990; before < 1_010; before += 1) {
      expect(wordsOf(`${" ".repeat(before)}Besançon 𠮷野 C++`)).toEqual(["besancon", "𠮷野", "c++"]);
    }
  });

  test("in ASCII are those that neighbouring letters would not change", () => {
    const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join("");
    for (let first = 0; first < 128; first += 1) {
      const text = `${ascii.slice(first)}+a#1 ${ascii}x${"y".repeat(first)}`;
      expect(wordsOf(`${text} ж`)).toEqual([...wordsOf(text), "ж"]);
    }
  });

  test("an index also knows the end of an unbroken run", () => {
    expect(indexTerms("黒猫 黒猫")).toEqual(["黒猫", "猫"]);
  });
});
