import type { UsagePage } from "../../../client/index.ts";

export type UsageRow = UsagePage["usage"][number];

/** Matches the beginning of a cell that spreadsheets would take for a formula. */
const formula = /^[=+\-@\t\r]/;

function cell(value: string | number): string {
  const text = typeof value === "string" && formula.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Usage as comma-separated values, with titles in the first line. */
export function csvOf(rows: readonly UsageRow[]): string {
  const lines = rows.map(({ instanceId, instanceName, user, userChannel, date, ...tokens }) => {
    const person = [user ?? "", userChannel ?? ""];
    const named = instanceId !== undefined ? [instanceId, instanceName ?? ""] : date !== undefined ? [date] : person;
    return [...named, tokens.turns, tokens.promptTokens, tokens.completionTokens, tokens.totalTokens];
  });
  const [first] = rows;
  const names =
    first?.instanceId !== undefined ? ["agent", "name"] : first?.date === undefined ? ["user", "channel"] : ["date"];
  const titles = [...names, "turns", "prompt_tokens", "completion_tokens", "total_tokens"];
  return [titles, ...lines].map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}
