import type { UsagePage } from "../../../client/index.ts";

export type UsageRow = UsagePage["usage"][number];

/** Matches the beginning of a cell that spreadsheets would take for a formula. */
const formula = /^[=+\-@\t\r]/;

function cell(value: string | number): string {
  const text = typeof value === "string" && formula.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

type Names = Pick<UsageRow, "instanceId" | "instanceName" | "user" | "userChannel" | "model" | "date">;

/** What the numbers are of, by the titles of the columns. */
function namesOf({ instanceId, instanceName, user, userChannel, model, date }: Names): Map<string, string> {
  if (instanceId !== undefined) return new Map(Object.entries({ agent: instanceId, name: instanceName ?? "" }));
  if (date !== undefined) return new Map([["date", date]]);
  if (model !== undefined) return new Map([["model", model]]);
  return new Map(Object.entries({ user: user ?? "", channel: userChannel ?? "" }));
}

/** Usage as comma-separated values, with titles in the first line. Without a currency it has no costs. */
export function csvOf(rows: readonly UsageRow[], currency: string | null): string {
  const lines = rows.map(
    ({ turns, promptTokens, completionTokens, totalTokens, costMicros, unpricedTurns, ...row }) => {
      const costs = currency === null ? [] : [costMicros ?? "", currency, unpricedTurns];
      return [...namesOf(row).values(), turns, promptTokens, completionTokens, totalTokens, ...costs];
    },
  );
  const [first] = rows;
  const names = first ? namesOf(first).keys() : ["user", "channel"];
  const costs = currency === null ? [] : ["cost_micros", "currency", "unpriced_turns"];
  const titles = [...names, "turns", "prompt_tokens", "completion_tokens", "total_tokens", ...costs];
  return [titles, ...lines].map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}
