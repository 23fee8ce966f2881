import { describe, expect, test } from "vitest";
import { canonical, distinctiveWords, queryForAll, queryForAny, stemOf } from "../../../src/features/memories/text.ts";

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
