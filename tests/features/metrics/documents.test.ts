import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { metricsToken, monitored } from "./scrape.ts";

const read = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");

/** The names of all metrics, those without a sample included. */
async function metricNames(): Promise<string[]> {
  const h = await monitored();
  const answer = await h.request("/metrics", { headers: { Authorization: `Bearer ${metricsToken}` } });
  return [...(await answer.text()).matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);
}

test("the page lists all metrics of ours, and no others", async () => {
  const table = read("metrics.md")
    .split("\n")
    .filter((line) => line.startsWith("| `agent_engine_"));
  const listed = table.flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name));
  const ours = (await metricNames()).filter((name) => name.startsWith("agent_engine_"));
  expect(listed.sort()).toEqual(ours.sort());
});
