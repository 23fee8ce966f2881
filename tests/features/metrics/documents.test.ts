import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { metricsToken, monitored } from "./scrape.ts";

const read = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");

interface Known {
  name: string;
  type: string;
}

/** All metrics of a scrape, those without a sample included. */
async function scraped(): Promise<Known[]> {
  const h = await monitored();
  const answer = await h.request("/metrics", { headers: { Authorization: `Bearer ${metricsToken}` } });
  return [...(await answer.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => ({
    name,
    type,
  }));
}

/** The words marked as code in a cell of the page's table. */
const words = (cell = "") => [...cell.matchAll(/`(\w+)`/g)].map(([, word = ""]) => word);

/** The metrics of the page's table with their labels. */
const listed = () =>
  read("metrics.md")
    .split("\n")
    .filter((line) => line.startsWith("| `agent_engine_"))
    .flatMap((line) => {
      const [, names, labels] = line.split("|");
      return words(names).map((name) => ({ name, labels: words(labels) }));
    });

/** The metrics that an expression of PromQL reads, and the labels that it uses. */
function readBy(expression: string): { names: string[]; labels: string[] } {
  const names = [...expression.matchAll(/\b(?:agent_engine|process|nodejs)_\w+/g)].map(([name]) => name);
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/, */));
  const selected = [...expression.matchAll(/(\w+)(?:=~|!=|!~|=)"/g)].map(([, label = ""]) => label);
  return { names, labels: [...grouped, ...selected] };
}

/** The labels that Prometheus adds. */
const added = ["job", "instance", "le"];

function expectKnown(expressions: readonly string[], known: readonly Known[]) {
  const samples = new Set(
    known.flatMap(({ name, type }) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  );
  const table = listed();
  for (const expression of expressions) {
    const { names, labels } = readBy(expression);
    expect(names.filter((name) => !samples.has(name))).toEqual([]);
    const own = table.filter(({ name }) => names.some((read) => read.startsWith(name))).flatMap((one) => one.labels);
    expect(
      labels.filter((label) => ![...own, ...added].includes(label)),
      expression,
    ).toEqual([]);
  }
}

test("the page lists all metrics of ours, and no others", async () => {
  const ours = (await scraped()).map(({ name }) => name).filter((name) => name.startsWith("agent_engine_"));
  const names = listed().map(({ name }) => name);
  expect(names.sort()).toEqual(ours.sort());
});

test("the dashboard reads only metrics and labels that there are, and shows all of ours", async () => {
  const dashboard = JSON.parse(read("grafana-dashboard.json")) as { panels: { targets?: { expr: string }[] }[] };
  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expectKnown(expressions, await scraped());
  const shown = expressions.flatMap((expression) => readBy(expression).names);
  expect(listed().filter(({ name }) => !shown.some((read) => read.startsWith(name)))).toEqual([]);
});

test("the rules of the page are rules, of metrics and labels that there are", async () => {
  const [, text = ""] = /```yaml\n(groups:[\s\S]*?)```/.exec(read("metrics.md")) ?? [];
  const { groups } = parse(text) as { groups: { rules: Record<string, unknown>[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const rule of rules) {
    const strings = { alert: expect.any(String), expr: expect.any(String) };
    expect(rule).toMatchObject({ ...strings, annotations: { summary: expect.any(String) } });
  }
  expectKnown(
    rules.map(({ expr }) => String(expr)),
    await scraped(),
  );
});
