import { describe, expect, test } from "vitest";
import { fileNameOf } from "../../../src/plugins/markdown-pdf/create.ts";
import { made, readBack } from "./read-pdf.ts";

describe("a document", () => {
  test("has its text, in the fonts of its marks", async () => {
    const { texts, fonts, pages, warnings } = await readBack(
      "Plain **bold** *italic* ***both*** ~~struck~~ `code` **`strong code`** \\*no\\* &copy;&#8364; x<sup>2</sup> a<br>b",
    );
    expect(texts).toEqual(["Plain bold italic both struck code strong code *no* ©€ x2 a\nb"]);
    expect(fonts[0]?.map((name) => name.replace(/^.*\+/, "")).sort()).toEqual([
      ...["NotoSans-Bold", "NotoSans-BoldItalic", "NotoSans-Italic", "NotoSans-Regular"],
      ...["NotoSansMono-Bold", "NotoSansMono-Regular"],
    ]);
    expect([pages, warnings]).toEqual([1, []]);
  });

  test("slants emphasized code, which has no italic font", async () => {
    expect((await readBack("*`a`* `b` *c*")).slants[0]).toMatchObject({ a: 200, b: 0, c: 0 });
  });

  test("is written in Latin, Greek, Cyrillic and symbols, which readers find as they were", async () => {
    const lines = ["Zażółć gęślą jaźń", "Ξεσκεπάζω την ψυχοφθόρα", "Съешь же ещё", "→ ✓ ∑ ≤ ─ 😀 🚀 ✅", "Հայ ქარ"];
    const { texts, warnings } = await readBack(lines.join("\n\n"));
    expect(texts).toEqual([lines.join("\n")]);
    expect(warnings).toEqual([]);
  });

  test("shows boxes for characters the fonts lack, says so, and readers still find the text", async () => {
    const { texts, warnings } = await readBack("Hello 你好, שלום and 👍🏽 ❤️");
    expect(texts[0]).toContain("你好");
    expect(texts[0]).toContain("👍 ❤");
    expect(warnings).toEqual([
      "The fonts lack these characters, which are shown as boxes: 你 (U+4F60), 好 (U+597D), ש (U+05E9), ל (U+05DC), ו (U+05D5), ם (U+05DD)",
    ]);
  });

  test("links words to addresses and headings, and to nothing else", async () => {
    const { links, texts } = await readBack(
      "[one](https://example.com/a?b=ü&c) <mail@example.com> [down](#the-end) [none](#nowhere) [script](javascript:alert) [file](file:///etc/passwd) [relative](other.md)\n\n" +
        "text\n\n".repeat(60) +
        "# The *end*",
    );
    expect(links[0]?.map(({ url, page }) => url ?? page)).toEqual([
      "https://example.com/a?b=%C3%BC&c",
      "mailto:mail@example.com",
      texts.length,
    ]);
    expect(texts[0]).toContain("script file relative");
    const [left = 0, bottom = 0, right = 0, top = 0] = links[0]?.[0]?.rect ?? [];
    expect(left).toBeCloseTo(60, 0);
    expect([right - left > 15, right - left < 25, top > 760, top - bottom < 20]).toEqual([true, true, true, true]);
  });

  test("links to headings of any script, on their pages", async () => {
    const names = ["z", "aü", "b", "ä", "Ж", "a", "𝒳"];
    const { links } = await readBack(
      names.map((name) => `[${name}](#${name}) `).join("") +
        names.map((name) => `\n\n${"text\n\n".repeat(33)}# ${name}`).join(""),
    );
    const pages = links[0]?.map(({ page }) => page) ?? [];
    expect(pages).toHaveLength(names.length);
    expect(pages).toEqual([...new Set(pages)].sort((a, b) => a - b));
    expect(pages[0]).toBeGreaterThan(1);
  });

  test("has its headings as bookmarks, by level", async () => {
    const { outline } = await readBack(`# One\n\n### Deep\n\n## Two — ü\n\n${"text\n\n".repeat(60)}# Three`);
    expect(outline).toEqual([
      {
        title: "One",
        page: 1,
        items: [
          { title: "Deep", page: 1, items: [] },
          { title: "Two — ü", page: 1, items: [] },
        ],
      },
      { title: "Three", page: 3, items: [] },
    ]);
  });

  test("has lists with their signs, nested, numbered and of tasks", async () => {
    const { texts } = await readBack("- a\n  - b\n\n    c\n- [x] done\n- [ ] open\n\n7. seven\n8. eight\n\n-\n- - two");
    expect(texts[0]?.split("\n")).toEqual(
      ["•a", "•b", "c", "☑done", "☐open", "7.seven", "8.eight", "•", "••two"].map((line) =>
        expect.stringMatching(new RegExp(`^${[...line].map((one) => one.replace(".", "\\.")).join("\\s*")}$`)),
      ),
    );
  });

  test("keeps the spaces of code, and wraps its lines", async () => {
    const code = `if a:\n\tb\n${"x".repeat(200)}\n${"word ".repeat(30)}`;
    const { texts, starts } = await readBack(`\`\`\`\n${code}\n\`\`\`\n\n> quoted\n\n---`);
    expect(texts[0]).toMatch(/^if a:\nb\nx{80,90}\nx{80,90}\nx+\n(word ?){17}\n(word ?){13}\nquoted$/);
    // The margin of the page, that of the code, and four characters whose width is 0.6 of their size.
    expect(starts[0]?.b).toBeCloseTo(60 + 8 + 4 * 0.6 * 8.8, 1);
  });

  test("shows the text of HTML, but neither its tags nor its scripts", async () => {
    const { texts } = await readBack(
      "<div>\n<p>one &amp; two</p>\n<script>alert(1)</script>\n</div>\n\n<!-- no -->\n\nthree <u>four</u> <b>five</b>",
    );
    expect(texts).toEqual(["one & two\nthree four five"]);
  });

  test("has the page size, title, language and time that were asked for", async () => {
    const { sizes, metadata, texts, bytes, name } = await readBack({
      markdown: "Hello",
      title: "Grüße (1)",
      language: "de-AT",
      pageSize: "Letter",
      landscape: true,
    });
    expect(sizes).toEqual([[792, 612]]);
    expect(metadata).toMatchObject({ Title: "Grüße (1)", CreationDate: "D:20261123100000Z", Language: "de-AT" });
    expect([texts, name]).toEqual([["Grüße (1)\nHello"], "Grüße (1).pdf"]);
    expect(new TextDecoder().decode(bytes.slice(0, 8))).toBe("%PDF-1.7");
  });

  test("has a title with any characters, and no other metadata", async () => {
    const title = "a & b </x> (c) \\ \ud83d";
    const { metadata, bytes, outline } = await readBack({ markdown: `# \ud83d x`, title });
    expect(metadata).toMatchObject({ Title: title.toWellFormed(), Producer: "Agent Engine" });
    expect(outline[0]?.title).toBe("\ufffd x");
    expect(new TextDecoder("latin1").decode(bytes)).not.toContain("/Metadata");
  });

  test("is titled by its first heading, and has no title above that", async () => {
    const { title, texts, sizes } = await readBack({ markdown: "# Own `title`\n\nx", title: "Other" });
    expect([title, texts, sizes]).toEqual(["Other", ["Own title\nx"], [[595.28, 841.89]]]);
    expect((await made("text\n\n## Own `title`")).name).toBe("Own title.pdf");
    expect((await made("text")).name).toBe("Document.pdf");
  });

  test("numbers its pages when it has several, and leaves no heading alone at the foot of one", async () => {
    const { texts } = await readBack(`${"text\n\n".repeat(29)}## Alone\n\n### Below\n\nend`);
    expect(texts.map((text) => text.split("\n").at(-1))).toEqual(["1 / 2", "2 / 2"]);
    expect(texts[1]).toMatch(/^Alone\nBelow\nend/);
  });

  test("is the same file for the same text at the same time", async () => {
    const text = "# A\n\n**b** 😀\n\n- c";
    expect((await made(text)).bytes).toEqual((await made(text)).bytes);
  });
});

test.each([
  ["report.pdf", "report.pdf"],
  ["../../etc/passwd", "etc passwd.pdf"],
  ['a\u0000b\n:*?"<>|c.PDF', "a b c.pdf"],
  [" .hidden ", "hidden.pdf"],
  ["\u202egnp.exe", "gnp.exe.pdf"],
  ["", "document.pdf"],
  ["///", "document.pdf"],
  ["ж".repeat(200), `${"ж".repeat(80)}.pdf`],
  ["\ud83d", "\ufffd.pdf"],
])("the file name %j becomes %j", (wish, name) => {
  expect(fileNameOf(wish)).toBe(name);
});
