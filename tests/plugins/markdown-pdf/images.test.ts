import { inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { Pace } from "../../../src/plugins/markdown-pdf/pace.ts";
import { readPicture } from "../../../src/plugins/markdown-pdf/pdf/read-picture.ts";
import { address, jpeg, png } from "./images.ts";
import { readBack } from "./read-pdf.ts";

const rgb = png({ width: 2, height: 1 }, [[0, 1, 2, 3, 4, 5, 6]]);
const read = (source: string) => readPicture(source, new Pace(new AbortController().signal, 10_000));

describe("an image", () => {
  test("is where it was written, and once in the file however often it is shown", async () => {
    const { images, warnings, bytes, texts } = await readBack(
      `a ![x](${address(rgb)}) b\n\n![x](${address(rgb)})\n\n| ![x](${address(rgb)}) |\n|-|`,
    );
    expect(images).toEqual([
      [
        [2, 1],
        [2, 1],
        [2, 1],
      ],
    ]);
    expect([texts[0]?.trim(), warnings]).toEqual([expect.stringMatching(/^a\s+b$/), []]);
    expect(new TextDecoder("latin1").decode(bytes).match(/\/Subtype \/Image/g)).toHaveLength(1);
  });

  test("links where a link around it leads", async () => {
    const { links } = await readBack(`[![x](${address(rgb)})](https://example.com)`);
    expect(links[0]?.map(({ url, rect }) => [url, rect[2] - rect[0]])).toEqual([["https://example.com/", 1.5]]);
  });

  const noise = Array.from({ length: 180 }, (_, y) => [
    0,
    ...Array.from({ length: 360 }, (_, x) => (x * x * 7 + y * y * 13 + x * y) & 255),
  ]);
  const large = address(png({ width: 120, height: 180 }, noise));

  test("of a long text is not torn apart", async () => {
    expect(large.length).toBeGreaterThan(24_000);
    const { images, texts } = await readBack(`${"word ".repeat(1500)}![x](${large})${" word".repeat(1500)}`);
    expect(images.flat()).toEqual([[120, 180]]);
    expect(texts.join(" ").match(/word/g)).toHaveLength(3000);
  });

  test("does not tear the table that it is in, however large it is", async () => {
    const { texts } = await readBack(`| a | b |\n|---|---|\n${`| ![x](${large}) | one |\n`.repeat(3)}| two | three |`);
    expect(texts.join(" ").replace(/\s+/g, " ")).toBe("a b one one one two three");
  });

  test("that can't be shown becomes a link with its description, and the result says why", async () => {
    const { texts, links, warnings } = await readBack(
      "![a chart](https://example.com/c.png) ![](data:image/gif;base64,R0lG) ![vector](data:image/svg+xml;base64,PHN2Zz4=)",
    );
    expect(texts).toEqual(["a chart [image] vector"]);
    expect(links[0]?.map(({ url }) => url)).toEqual(["https://example.com/c.png"]);
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toBe(
      "An image is not shown (https://example.com/c.png): only PNG and JPEG images can be shown, as base64 in a data: address",
    );
  });

  test("higher than a page is made smaller", async () => {
    const { pages, images } = await readBack(
      `![x](${address(
        png(
          { width: 1, height: 3000, color: 0 },
          Array.from({ length: 3000 }, () => [0, 7]),
        ),
      )})`,
    );
    expect([pages, images]).toEqual([1, [[[1, 3000]]]]);
  });
});

describe("a PNG", () => {
  test("without transparency is taken as it is", async () => {
    expect(await read(address(rgb))).toMatchObject({
      width: 2,
      height: 1,
      mask: null,
      entries: { ColorSpace: "DeviceRGB" },
    });
    const palette = png({ width: 2, height: 1, color: 3, bits: 1 }, [[0, 0b01000000]], { PLTE: [1, 2, 3, 255, 0, 16] });
    expect((await read(address(palette))).entries.ColorSpace).toEqual([
      ...["Indexed", "DeviceRGB", 1],
      new Uint8Array([1, 2, 3, 255, 0, 16]),
    ]);
    const key = png({ width: 1, height: 1, color: 0 }, [[0, 9]], { tRNS: [0, 9] });
    expect((await read(address(key))).entries.Mask).toEqual([9, 9]);
  });

  test.each([
    ["none", 0, [10, 20, 30, 40, 50, 60, 70, 80]],
    ["left", 1, [10, 20, 30, 40, 40, 40, 40, 40]],
    ["above", 2, [9, 18, 27, 36, 45, 54, 63, 72]],
    ["average", 3, [10, 19, 29, 38, 43, 47, 52, 56]],
    ["Paeth", 4, [9, 18, 27, 36, 40, 40, 40, 40]],
  ])("with an alpha channel is parted from it: filter %s", async (_, filter, second) => {
    const first = [1, 2, 3, 4, 5, 6, 7, 8];
    const { bytes, mask } = await read(
      address(
        png({ width: 2, height: 2, color: 6 }, [
          [0, ...first],
          [filter, ...second],
        ]),
      ),
    );
    expect([...inflateSync(bytes)]).toEqual([1, 2, 3, 5, 6, 7, 10, 20, 30, 50, 60, 70]);
    expect([...inflateSync(mask?.bytes ?? bytes)]).toEqual([4, 8, 40, 80]);
  });

  test("with transparent colours in its palette gets a mask of them", async () => {
    const source = png({ width: 3, height: 1, color: 3, bits: 4 }, [[0, 0x01, 0x20]], {
      PLTE: [1, 1, 1, 2, 2, 2, 3, 3, 3],
      tRNS: [0, 128],
    });
    const { mask } = await read(address(source));
    expect([...inflateSync(mask?.bytes ?? Buffer.alloc(0))]).toEqual([0, 128, 255]);
  });

  test.each([
    ["cut off", address(rgb.subarray(0, 50)), "damaged"],
    ["with less data than announced", address(png({ width: 9, height: 9 }, [[0, 1]])), "damaged"],
    [
      "with more data than announced",
      address(
        png(
          { width: 1, height: 1 },
          Array.from({ length: 9000 }, () => [0, 1, 2, 3]),
        ),
      ),
      "damaged",
    ],
    ["with a palette that it lacks", address(png({ width: 1, height: 1, color: 3 }, [[0, 1]])), "damaged"],
    ["with colours that don't exist", address(png({ width: 1, height: 1, color: 5 }, [[0, 1]])), "damaged"],
    ["without pixels", address(png({ width: 0, height: 1 }, [[0]])), "damaged"],
    ["interlaced", address(png({ width: 1, height: 1, interlaced: true }, [[0, 1, 2, 3]])), "interlaced"],
    ["too large", address(png({ width: 60_000, height: 60_000 }, [[0]])), "16000000 pixels"],
    ["that is none", address(Buffer.from("hello world")), "neither a PNG nor a JPEG"],
    ["of damaged base64", "data:image/png;base64,A", "base64"],
    ["of damaged percent signs", "data:image/png;base64,%", "base64"],
  ])("%s is refused", async (_, source, problem) => {
    await expect(read(source)).rejects.toThrow(problem);
  });
});

describe("a JPEG", () => {
  test.each([
    [1, "DeviceGray"],
    [3, "DeviceRGB"],
    [4, "DeviceCMYK"],
  ])("of %i colours is taken as it is", async (colors, space) => {
    const source = jpeg({ width: 300, height: 200, colors, marker: 0xc2 });
    const { entries, ...picture } = await read(address(source, "jpeg"));
    expect(picture).toEqual({ width: 300, height: 200, bytes: new Uint8Array(source), mask: null });
    expect(entries).toEqual({ ColorSpace: space, BitsPerComponent: 8, Filter: "DCTDecode" });
  });

  test.each([
    ["of two colours", jpeg({ colors: 2 }), "not supported"],
    ["of twelve bits", jpeg({ bits: 12 }), "not supported"],
    ["without a size", jpeg({ height: 0 }), "not supported"],
    ["too large", jpeg({ width: 65_000, height: 65_000 }), "16000000 pixels"],
    ["without a frame", jpeg({ marker: 0xc4 }), "no JPEG"],
    ["cut off", jpeg().subarray(0, 9), "no JPEG"],
  ])("%s is refused", async (_, source, problem) => {
    await expect(read(address(source, "jpg"))).rejects.toThrow(problem);
  });
});
