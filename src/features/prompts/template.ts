/** What stays as it is until the agent's configuration changes. */
const fixedPlaceholders = ["name", "description", "skillsList", "timezone"] as const;
/** What may be different in each turn. */
const turnPlaceholders = ["datetime", "memories", "userName", "state"] as const;

type FixedPlaceholder = (typeof fixedPlaceholders)[number];
type TurnPlaceholder = (typeof turnPlaceholders)[number];
export type Placeholder = FixedPlaceholder | TurnPlaceholder;

/** Texts for the placeholders; "" where there is nothing to say. */
export type FixedValues = Readonly<Record<FixedPlaceholder, string>>;
export type TurnValues = Readonly<Record<TurnPlaceholder, string>>;
type Values = FixedValues & TurnValues;

interface Line {
  /** Texts and the placeholders between them: texts at even places, first and last. */
  texts: readonly string[];
  names: readonly Placeholder[];
  kind: "blank" | "heading" | "text";
  /** 1 to 6; 0 unless it is a heading. */
  level: number;
  /** Nothing but placeholders, perhaps behind a label: without their values it says nothing. */
  hollow: boolean;
  /** Text that ends with a colon, so that it says nothing without what follows. */
  leadIn: boolean;
}

/** A section, taken apart once. */
export type Template = readonly Line[];

const pattern = new RegExp(`\\{\\{(${[...fixedPlaceholders, ...turnPlaceholders].join("|")})\\}\\}`);
const word = /[\p{L}\p{N}]/u;
const endsWithColon = /[:：][\s*_`"'(]*$/;

/** Takes the text of a section apart. Any other `{{…}}` is text. */
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

/** Whether it may read differently in each turn. */
export function changesWithTurn(template: Template): boolean {
  return template.some(({ names }) => names.some((name) => (turnPlaceholders as readonly string[]).includes(name)));
}

/**
 * The section with all values in one pass, so that nothing in a value is filled in itself. Lines whose placeholders have
 * nothing to say go, and with them the lead-ins and the headings that have nothing left below; sentences stay.
 */
export function render(template: Template, values: Values): string {
  const lines = remaining(template, values).map(({ texts, names }) =>
    texts.map((text, index) => text + valueAt(names[index], values)).join(""),
  );
  return lines.join("\n");
}

function valueAt(name: Placeholder | undefined, values: Values): string {
  return name === undefined ? "" : values[name];
}

/** The lines that are to be shown, without blank ones around them. */
function remaining(template: Template, values: Values): Line[] {
  const kept: Line[] = [];
  // From the last line up: whether a line has something below it is known by then.
  let below: Line | undefined;
  let lost = false;
  let bare = false;
  for (const line of template.toReversed()) {
    if (line.kind === "blank") {
      // One of the two around a lost line is enough, and none at the end.
      if (kept.length > 0 && !(lost && kept.at(-1)?.kind === "blank")) kept.push(line);
    } else if (isEmpty(line, values) || (bare && (line.leadIn || isBareHeading(line, below)))) {
      // What stands right below it has the same lead-in.
      bare ||= kept.at(-1)?.kind !== "text";
      lost = true;
    } else {
      kept.push(line);
      below = line;
      lost = false;
      bare = false;
    }
  }
  while (kept.at(-1)?.kind === "blank") kept.pop();
  return kept.reverse();
}

function isEmpty({ hollow, names }: Line, values: Values): boolean {
  return hollow && names.every((name) => values[name].trim() === "");
}

/** `below` is the next line that is shown: there is nothing under a heading when that one is no smaller a heading. */
function isBareHeading({ kind, level }: Line, below: Line | undefined): boolean {
  return kind === "heading" && (!below || (below.kind === "heading" && below.level <= level));
}
