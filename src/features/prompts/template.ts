import { closing, opening } from "../../core/text/placeholder.ts";

/** Placeholders whose values change only with the agent's configuration. */
const fixedPlaceholders = ["name", "description", "skillsList", "timezone"] as const;
/** Placeholders whose values may change with each turn. */
const turnPlaceholders = ["datetime", "memories", "userName", "state"] as const;

type FixedPlaceholder = (typeof fixedPlaceholders)[number];
type TurnPlaceholder = (typeof turnPlaceholders)[number];
export type Placeholder = FixedPlaceholder | TurnPlaceholder;

/** The values of the placeholders; "" for nothing. */
export type FixedValues = Readonly<Record<FixedPlaceholder, string>>;
export type TurnValues = Readonly<Record<TurnPlaceholder, string>>;
type Values = FixedValues & TurnValues;

interface Line {
  /** The line, split at its placeholders: one more text than names. */
  texts: readonly string[];
  names: readonly Placeholder[];
  kind: "blank" | "heading" | "text";
  /** 1 to 6; 0 unless it is a heading. */
  level: number;
  /** The line is only placeholders, perhaps behind a label: without values it says nothing. */
  hollow: boolean;
  /** The line ends with a colon: without the lines that follow it says nothing. */
  leadIn: boolean;
}

/** A parsed section. */
export type Template = readonly Line[];

const pattern = new RegExp(`${opening}(${[...fixedPlaceholders, ...turnPlaceholders].join("|")})${closing}`);
const word = /[\p{L}\p{N}]/u;
const endsWithColon = /[:：][\s*_`"'(]*$/;

/** Whether the text names the placeholder. */
export function namesPlaceholder(text: string, name: Placeholder): boolean {
  return parse(text).some(({ names }) => names.includes(name));
}

/** Parses the text of a section. Any other `{{…}}` is text. */
export function parse(text: string): Template {
  return text.split(/\r?\n/).map(parseLine);
}

function parseLine(line: string): Line {
  const pieces = line.split(pattern);
  const texts = pieces.filter((_, index) => index % 2 === 0);
  const names = pieces.filter((_, index) => index % 2 === 1) as Placeholder[];
  const [label = "", ...rest] = texts;
  const level = /^(#{1,6})(\s|$)/.exec(line)?.[1]?.length ?? 0;
  return {
    texts,
    names,
    kind: line.trim() === "" ? "blank" : level > 0 ? "heading" : "text",
    level,
    hollow: names.length > 0 && (!word.test(label) || endsWithColon.test(label)) && !rest.some((t) => word.test(t)),
    leadIn: level === 0 && endsWithColon.test(texts.at(-1) ?? ""),
  };
}

/** Whether the section may read differently in each turn. */
export function changesWithTurn(template: Template): boolean {
  return template.some(({ names }) => names.some((name) => (turnPlaceholders as readonly string[]).includes(name)));
}

/** How many characters the values may have, in all, that sections name again: each is filled in once, however long. */
const mostRepeated = 1024 * 1024;

/** Tracks the values filled into a group of sections, since a text may name a long value thousands of times. */
export class Filling {
  readonly filled: Set<Placeholder>;
  left: number;

  /** Goes on from another one, which stays as it is. */
  constructor(from?: Filling) {
    this.filled = new Set(from?.filled);
    this.left = from?.left ?? mostRepeated;
  }
}

/**
 * The section with all values filled in, in one pass, so that placeholders inside a value stay text. Lines whose
 * placeholders are empty are left out, and so are lead-ins and headings with nothing left below; sentences stay. A
 * placeholder whose value is too long to be repeated once more stays.
 */
export function render(template: Template, values: Values, filling: Filling): string {
  const lines = remaining(template, values).map(({ texts, names }) =>
    texts.map((text, index) => text + valueAt(names[index], values, filling)).join(""),
  );
  return lines.join("\n");
}

function valueAt(name: Placeholder | undefined, values: Values, filling: Filling): string {
  if (name === undefined) return "";
  const value = values[name];
  if (!filling.filled.has(name)) filling.filled.add(name);
  else if (value.length > filling.left) return `{{${name}}}`;
  else filling.left -= value.length;
  return value;
}

/** The lines that are shown, without blank lines at both ends. */
function remaining(template: Template, values: Values): Line[] {
  const shown: Line[] = [];
  // From the last line up, so that it is known whether something stands below a line.
  let below: Line | undefined;
  let lost = false;
  let bare = false;
  for (const line of template.toReversed()) {
    if (line.kind === "blank") {
      // Keeps one of two blank lines around an omitted line, and no blank line at the end.
      if (shown.length > 0 && !(lost && shown.at(-1)?.kind === "blank")) shown.push(line);
    } else if (isEmpty(line, values) || (bare && (line.leadIn || isBareHeading(line, below)))) {
      // The line right below has the same lead-in.
      bare ||= shown.at(-1)?.kind !== "text";
      lost = true;
    } else {
      shown.push(line);
      below = line;
      lost = false;
      bare = false;
    }
  }
  while (shown.at(-1)?.kind === "blank") shown.pop();
  return shown.reverse();
}

function isEmpty({ hollow, names }: Line, values: Values): boolean {
  return hollow && names.every((name) => values[name].trim() === "");
}

/**
 * `below` is the next line that is shown. A heading is bare when that line is a heading of the same or a higher level.
 */
function isBareHeading({ kind, level }: Line, below: Line | undefined): boolean {
  return kind === "heading" && (!below || (below.kind === "heading" && below.level <= level));
}
