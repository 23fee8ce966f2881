import { expect, test } from "vitest";
import { longestSnippet, queryOf, readSearch, snippetOf } from "../../../src/features/conversations/rules.ts";

const queryFor = (text: string) => queryOf(readSearch(text)?.words ?? []);

test("every word is looked for in each case, the last one as a beginning", () => {
  expect(readSearch(" blue ÄPFEL ")).toEqual({
    phrase: ["blue äpfel", "Blue äpfel", "BLUE ÄPFEL", "blue ÄPFEL"],
    words: [
      { terms: ["blue"], typed: "('blue' | 'Blue' | 'BLUE')" },
      { terms: ["apfel*"], typed: "('äpfel':* | 'Äpfel':* | 'ÄPFEL':*)" },
    ],
    placed: ["blue", "äpfel", "Äpfel", "ÄPFEL"],
  });
  expect(queryFor(" blue ÄPFEL ")).toEqual({
    indexed: "'blue' & 'apfel':*",
    typed: "('blue' | 'Blue' | 'BLUE') & ('äpfel':* | 'Äpfel':* | 'ÄPFEL':*)",
  });
});

test("operators of PostgreSQL's query syntax are quoted, and punctuation alone is no word", () => {
  expect(queryFor("o'x\\y").typed).toContain("('o''x\\\\y':*");
  expect(readSearch("& | ! :* ( ) <->")).toMatchObject({ words: [], placed: [] });
  expect(readSearch(" \t\n")).toBeNull();
});

test("a search is bounded: 16 words, and of each so much as an index takes", () => {
  const many = queryFor(Array.from({ length: 50 }, (_, n) => `w${n}`).join(" "));
  expect(many.typed.split(" & ")).toHaveLength(16);
  expect(many.indexed.split(" & ")).toHaveLength(16);
  expect(many.typed).toContain("'w15':*");
  const { typed, indexed } = queryFor("ΐ".repeat(256));
  const long = `${typed} ${indexed}`;
  for (const [form] of long.matchAll(/'[^']+'/g)) expect(new TextEncoder().encode(form).length).toBeLessThan(1_000);
});

test("a snippet is one line of whole words", () => {
  expect(snippetOf({ text: "a\n\n b\tc", begun: false })).toBe("a b c");
  expect(snippetOf({ text: "alf a word", begun: true })).toBe("… a word");
  const long = snippetOf({ text: `cut ${"word ".repeat(100)}`, begun: true });
  expect(long).toMatch(/^… word .* word …$/);
  expect(long.length).toBeLessThanOrEqual(longestSnippet);
  const unbroken = snippetOf({ text: "😀".repeat(200), begun: true });
  expect(unbroken.length).toBeLessThanOrEqual(longestSnippet);
  expect(unbroken.isWellFormed()).toBe(true);
});
