import { describe, expect, test } from "vitest";
import { bandsOf } from "../../../src/plugins/markdown-pdf/layout/columns.ts";
import { readBack } from "./read-pdf.ts";

const row = (...cells: (string | number)[]) => `| ${cells.join(" | ")} |\n`;
const table = (head: string[], rows: (string | number)[][], signs = head.map(() => "---")) =>
  row(...head) + row(...signs) + rows.map((cells) => row(...cells)).join("");

describe("a table", () => {
  test("continues on further pages under its header, and no row is lost or split", async () => {
    const rows = Array.from({ length: 90 }, (_, index) => [
      index,
      `city ${index}`,
      index % 9 ? "short" : "word ".repeat(40),
    ]);
    const { texts } = await readBack(table(["No", "City", "Remark"], rows));
    expect(texts.length).toBeGreaterThan(2);
    for (const text of texts) expect(text).toMatch(/^No\s+City\s+Remark/);
    const all = texts.join("\n");
    expect(rows.filter(([, city]) => !all.includes(`${city}`))).toEqual([]);
    const long = texts.map((text) => text.match(/word/g)?.length ?? 0);
    expect(long.every((count) => count % 40 === 0)).toBe(true);
    expect(long.reduce((sum, count) => sum + count, 0)).toBe(400);
  });

  test("splits a row that is higher than a page, in all of its cells", async () => {
    const { texts } = await readBack(table(["A", "B"], [["left ".repeat(900), "right ".repeat(900)]]));
    expect(texts.length).toBeGreaterThan(1);
    const count = (word: string) => texts.map((text) => text.match(new RegExp(word, "g"))?.length ?? 0);
    expect(count("left").reduce((sum, one) => sum + one)).toBe(900);
    expect(count("right").reduce((sum, one) => sum + one)).toBe(900);
    expect(
      count("left")
        .slice(0, -1)
        .every((one) => one > 100),
    ).toBe(true);
  });

  test("has links, marks and line breaks in its cells", async () => {
    const { texts, links } = await readBack(
      table(["A", "B"], [["[site](https://example.com) **b**", "one<br>two \\| three `x`"]]),
    );
    expect(texts[0]).toMatch(/site b\s+one\s+two \| three x/);
    expect(links[0]?.map(({ url }) => url)).toEqual(["https://example.com/"]);
  });

  test("of 500 columns is set in bands, each with the first column", async () => {
    const names = Array.from({ length: 500 }, (_, index) => `c${index}`);
    const { texts } = await readBack(table(names, [names.map((name) => `v${name}`)]));
    const words = new Set(texts.join(" ").split(/\s+/));
    expect(names.filter((name) => !words.has(name) || !words.has(`v${name}`))).toEqual([]);
    expect(texts[0]?.match(/\bc0\b/g)?.length).toBeGreaterThan(3);
  });

  test("inside of a list in a quote keeps its position", async () => {
    const { texts } = await readBack(`> - item\n>\n>   ${table(["A"], [["x"]]).replaceAll("\n", "\n>   ")}`);
    expect(texts[0]?.replace(/\s+/g, " ")).toBe("• item A x");
  });
});

describe("the widths of columns", () => {
  const wish = (least: number, most: number) => ({ least, most });
  const widths = (...wishes: { least: number; most: number }[]) =>
    bandsOf(wishes, 400).map((band) => band.widths.map(Math.round));

  test("are what the text takes, when there is space", () => {
    expect(widths(wish(20, 50), wish(30, 100))).toEqual([[50, 100]]);
  });

  test("spare narrow columns when there is not enough", () => {
    expect(widths(wish(20, 50), wish(30, 1000), wish(40, 800))).toEqual([[50, 175, 175]]);
  });

  test("don't let a long word take the table", () => {
    expect(widths(wish(2000, 2000), wish(20, 80))).toEqual([[320, 80]]);
  });

  test("are those of several bands, when columns would be too narrow to read", () => {
    const bands = bandsOf(
      Array.from({ length: 20 }, () => wish(60, 60)),
      400,
    );
    expect(bands.map(({ columns }) => columns)).toEqual([
      [0, 1, 2, 3, 4, 5],
      [0, 6, 7, 8, 9, 10],
      [0, 11, 12, 13, 14, 15],
      [0, 16, 17, 18, 19],
    ]);
    for (const band of bands) expect(band.widths.reduce((sum, width) => sum + width)).toBeLessThanOrEqual(400);
  });
});
