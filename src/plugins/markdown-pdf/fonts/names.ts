/** The fonts of documents. `symbols` and `emoji` have characters that the others lack. */
export const fontNames = [
  "sans",
  "sans-bold",
  "sans-italic",
  "sans-bold-italic",
  "mono",
  "mono-bold",
  "symbols",
  "emoji",
] as const;

export type FontName = (typeof fontNames)[number];

/** Reads the TrueType file of a font. */
export type ReadFont = (name: FontName) => Promise<Uint8Array<ArrayBuffer>>;
