import { describe, expect, test } from "vitest";
import {
  canonical,
  distinctiveWords,
  indexTerms,
  queryForAll,
  queryForAny,
  stemOf,
  wordsOf,
} from "../../../src/features/memories/text.ts";
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
    for (const text of ["ab ".repeat(100_000), "東".repeat(300_000), "a+".repeat(100_000), "+".repeat(300_000)]) {
      wordsOf(text);
    }
    expect(taken()).toBeLessThan(5_000);
  });

  test("in ASCII are those that other letters beside them would not change", () => {
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

test.each([
  ["Likes  Tea.", "likes\ntea", true],
  ["Likes tea…", "LIKES TEA!!!", true],
  ["Café", "cafe", true],
  ["Knows C++", "Knows C", false],
  ["Owes 3.5", "Owes 35", false],
  ["🙂", "🙃", false],
  ["...", "!", false],
])("%j and %j are the same: %s", (a, b, same) => expect(canonical(a) === canonical(b)).toBe(same));

describe("queries", () => {
  test("for all words match their beginnings", () => {
    expect(queryForAll("Call Café call")).toBe("'call':* & 'cafe':*");
    expect(queryForAll("!?")).toBeNull();
    expect(queryForAll(Array.from({ length: 500 }, (_, n) => `w${n}`).join(" "))?.split(" & ")).toHaveLength(64);
  });

  test("for any word match its forms, and words that tell nothing are left out", () => {
    expect(queryForAny(distinctiveWords("Is he allergic to nuts?"))).toBe("'aller':* | 'nuts'");
    expect(queryForAny(distinctiveWords("is he ok"))).toBe("'is' | 'he' | 'ok'");
    expect(queryForAny(distinctiveWords("猫 7"))).toBe("'猫' | '7'");
    expect(queryForAny(distinctiveWords("?!"))).toBeNull();
  });

  test("stems keep at least four characters", () => {
    expect(["tea", "nuts", "likes", "preferred"].map(stemOf)).toEqual(["tea", "nuts", "like", "prefer"]);
  });
});
