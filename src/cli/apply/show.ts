import { stringify } from "yaml";
import { printable } from "../chat/show.ts";
import type { FieldChange } from "./compare.ts";
import { linesOf, unifiedDiff } from "./line-diff.ts";
import type { Action, Plan } from "./plan.ts";

type Sign = "+" | "-" | "~" | "@" | " ";

/** Colours a line by its sign; returns it unchanged when colours are off. */
export type Paint = (sign: Sign, line: string) => string;

const codes: Readonly<Record<Sign, number>> = { "+": 32, "-": 31, "~": 33, "@": 36, " ": 0 };

export const plain: Paint = (_, line) => line;
export const coloured: Paint = (sign, line) => (sign === " " ? line : `\u001b[${codes[sign]}m${line}\u001b[0m`);

const signs: Readonly<Record<Action, Sign>> = { create: "+", update: "~", none: " " };

/** The plan for people: one line for each thing and each field, and a diff for texts. */
export function describePlan(plan: Plan, paint: Paint): string[] {
  const lines: string[] = [];
  const add = (sign: Sign, text: string) => lines.push(paint(sign, `${sign} ${printable(text)}`));
  for (const { action, file, fields } of plan.skills) {
    if (action === "none") continue;
    add(signs[action], `skill ${file.slug}  (${file.place})`);
    lines.push(...fields.flatMap((field) => describeField(field, paint)));
  }
  for (const { workspace, skill } of plan.allowances) add("+", `skill ${skill} for the workspace ${workspace.name}`);
  for (const { action, file, fields } of plan.agents) {
    if (action === "none") continue;
    add(signs[action], `agent ${file.slug}  (${file.place})`);
    lines.push(...fields.flatMap((field) => describeField(field, paint)));
  }
  for (const { kind, slug } of plan.deletions) add("-", `${kind} ${slug}  (no file names it)`);
  return lines;
}

const indent = "    ";

/** How many characters of a text are shown. */
const longestValue = 200;

/** The lines of one difference. */
export function describeField({ path, before, after }: FieldChange, paint: Paint): string[] {
  const isAdded = before === undefined;
  const sign = isAdded ? "+" : after === undefined ? "-" : "~";
  const head = `${indent}${sign} ${printable(path)}`;
  if (sign !== "~") {
    const value = isAdded ? after : before;
    if (!isLong(value)) return [paint(sign, `${head}: ${shown(value)}`)];
    const lines =
      typeof value === "string" ? linesOf(value) : linesOf(stringify(summarisedAll(value), { lineWidth: 0 }));
    return [head, ...lines.map((line) => `${indent}${indent}${sign}${printable(line)}`)].map((line) =>
      paint(sign, line),
    );
  }
  if (typeof before !== "string" || typeof after !== "string" || !(isLong(before) || isLong(after))) {
    return [paint(sign, `${head}: ${shown(before)} → ${shown(after)}`)];
  }
  const diff = unifiedDiff(before, after);
  return [paint(sign, head), ...diff.map((line) => paint(signOf(line), `${indent}${indent}${printable(line)}`))];
}

/** Whether a value is shown on several lines. */
function isLong(value: unknown): boolean {
  if (typeof value === "string")
    return !isPicture(value) && (value.trimEnd().includes("\n") || value.length > longestValue);
  return typeof value === "object" && value !== null && JSON.stringify(value).length > longestLine;
}

/** The longest field or list that is shown on one line, in characters. */
const longestLine = 90;

function signOf(line: string): Sign {
  const [first] = line;
  return first === "+" || first === "-" || first === "@" ? first : " ";
}

const isPicture = (value: string) => value.startsWith("data:");

const summarisedAll = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, inner: unknown) => summarised(inner)));

function shown(value: unknown): string {
  const text = JSON.stringify(value, (_, inner: unknown) => summarised(inner)) ?? "";
  const line = printable(text).replaceAll("\n", " ");
  return line.length > longestValue ? `${line.slice(0, longestValue).toWellFormed()}…` : line;
}

/** Replaces a picture by its size; returns other values unchanged. */
export function summarised(value: unknown): unknown {
  if (typeof value !== "string" || !isPicture(value)) return value;
  return `picture of ${Math.round((value.length * 3) / 4 / 1024)} KiB`;
}

/** A closing sentence with the number of changes. */
export function summarise({ skills, agents, allowances, deletions }: Plan): string {
  const steps = [...skills, ...agents];
  const count = (wanted: Action) => steps.filter(({ action }) => action === wanted).length;
  const parts = [
    `${count("create")} to create`,
    `${count("update")} to change`,
    ...(allowances.length > 0 ? [`${allowances.length} to allow`] : []),
    `${deletions.length} to delete`,
    `${count("none")} unchanged`,
  ];
  return `${parts.join(", ")}.`;
}
