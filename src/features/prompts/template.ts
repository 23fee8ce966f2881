import { closing, opening } from "../../core/text/placeholder.ts";

/** Placeholders whose values change only with the agent's configuration. */
const fixedPlaceholders = ["name", "description", "skillsList", "timezone"] as const;
/** Placeholders whose values may change with each turn. */
const turnPlaceholders = ["datetime", "memories", "userName", "state"] as const;

type FixedPlaceholder = (typeof fixedPlaceholders)[number];
type TurnPlaceholder = (typeof turnPlaceholders)[number];
export type Placeholder = FixedPlaceholder | TurnPlaceholder;

/** The values of the placeholders; "" when there is none. */
export type FixedValues = Readonly<Record<FixedPlaceholder, string>>;
export type TurnValues = Readonly<Record<TurnPlaceholder, string>>;
type Values = FixedValues & TurnValues;

interface Line {
  /** The parts of the line between its placeholders: one more than there are placeholders. */
  texts: readonly string[];
  names: readonly Placeholder[];
  kind: "blank" | "heading" | "text";
  /** The level of a heading, 1 to 6; 0 for other lines. */
  level: number;
  /** Whether the line consists of placeholders only, perhaps after a label. Without values it is omitted. */
  hollow: boolean;
  /** Whether the line ends with a colon. It is omitted when no line is left after it. */
  leadIn: boolean;
}

/** A parsed section. */
export type Template = readonly Line[];

const pattern = new RegExp(`${opening}(${[...fixedPlaceholders, ...turnPlaceholders].join("|")})${closing}`);
const word = /[\p{L}\p{N}]/u;
const endsWithColon = /[:：][\s*_`"'(]*$/;

/** Whether the text contains the placeholder. */
export function namesPlaceholder(text: string, name: Placeholder): boolean {
  return parse(text).some(({ names }) => names.includes(name));
}

/** Parses the text of a section. An unknown `{{…}}` is text. */
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

/** Whether the section may change with each turn. */
export function changesWithTurn(template: Template): boolean {
  return template.some(({ names }) => names.some((name) => (turnPlaceholders as readonly string[]).includes(name)));
}

/** The most characters that repeated placeholders may add; the first use of each is always filled in. */
const mostRepeated = 1024 * 1024;

/**
 * Counts the characters filled into a group of sections, since a text may repeat the placeholder of a long value
 * thousands of times.
 */
export class Filling {
  readonly filled: Set<Placeholder>;
  left: number;

  /** Continues the count of another one, which stays unchanged. */
  constructor(from?: Filling) {
    this.filled = new Set(from?.filled);
    this.left = from?.left ?? mostRepeated;
  }
}

/**
 * Renders a section with all values filled in, in one pass, so that placeholders inside a value stay text. Omits lines
 * whose placeholders are all empty, and introductions and headings under which no line is left; sentences stay. A
 * placeholder stays unfilled when its value is too long to be repeated again.
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

/** The lines that are not omitted, without blank lines at both ends. */
function remaining(template: Template, values: Values): Line[] {
  const shown: Line[] = [];
  // Goes upwards, so that each line knows which lines are left below it.
  let below: Line | undefined;
  let lost = false;
  let bare = false;
  for (const line of template.toReversed()) {
    if (line.kind === "blank") {
      // Around an omitted line, one of two blank lines stays; at the end, none.
      if (shown.length > 0 && !(lost && shown.at(-1)?.kind === "blank")) shown.push(line);
    } else if (isEmpty(line, values) || (bare && (line.leadIn || isBareHeading(line, below)))) {
      // Unless text follows directly: a lead-in or heading is for that text, too.
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
 * Whether no text is left under a heading: the next line, `below`, is missing or a heading of the same or a higher
 * level.
 */
function isBareHeading({ kind, level }: Line, below: Line | undefined): boolean {
  return kind === "heading" && (!below || (below.kind === "heading" && below.level <= level));
}
