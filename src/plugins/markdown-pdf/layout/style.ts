import type { FontName } from "../fonts/names.ts";
import type { Color, Target } from "../pdf/page.ts";
import type { Emphasis } from "../read/blocks.ts";

const ink: Color = [0.13, 0.15, 0.18];
export const gray: Color = [0.4, 0.44, 0.49];
const linkBlue: Color = [0.04, 0.36, 0.75];
export const lineGray: Color = [0.82, 0.84, 0.87];
export const shade: Color = [0.955, 0.96, 0.967];

/** The style of a block's text before emphasis. */
export interface Base {
  size: number;
  /** The line height, in font sizes. */
  leading: number;
  bold: boolean;
  color: Color;
}

export const bodyBase: Base = { size: 10.5, leading: 1.5, bold: false, color: ink };
const codeSize = 8.8;

const headingSizes = [22, 17, 14, 12, 11, 10.5];

export const headingBase = (level: number): Base => ({
  size: headingSizes[level - 1] ?? bodyBase.size,
  leading: 1.3,
  bold: true,
  color: level > 5 ? gray : ink,
});

/** The style of a piece of text. */
export interface TextStyle {
  font: FontName;
  size: number;
  leading: number;
  color: Color;
  slanted: boolean;
  struck: boolean;
  /** The height above the baseline, in points. */
  rise: number;
  shaded: boolean;
  target: Target | null;
}

export function styleOf(emphasis: Emphasis, base: Base): TextStyle {
  const { italic, code, struck, raised, target } = emphasis;
  const bold = emphasis.bold || base.bold;
  const size = base.size * (code ? 0.9 : 1) * (raised ? 0.7 : 1);
  return {
    font: code ? (bold ? "mono-bold" : "mono") : sans(bold, italic),
    size,
    leading: (base.leading * base.size) / size,
    color: target ? linkBlue : base.color,
    slanted: code && italic,
    struck,
    rise: raised ? base.size * (raised === "above" ? 0.35 : -0.15) : 0,
    shaded: code,
    target,
  };
}

function sans(bold: boolean, italic: boolean): FontName {
  if (bold) return italic ? "sans-bold-italic" : "sans-bold";
  return italic ? "sans-italic" : "sans";
}

/** The style of a block of code. */
export const codeStyle: TextStyle = {
  ...styleOf({ bold: false, italic: false, code: true, struck: false, raised: null, target: null }, bodyBase),
  size: codeSize,
  leading: 1.45,
  shaded: false,
};
