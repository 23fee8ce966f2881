import { expect } from "vitest";
import type { Harness } from "../../harness.ts";
import type { ScriptedModel } from "../../scripted-model.ts";
import { chatHarness } from "../chat/chat.ts";

export const metricsToken = "token-of-the-monitoring";

/** An agent on a server that is monitored. */
export const monitored = (model?: ScriptedModel, options: Parameters<typeof chatHarness>[2] = {}) =>
  chatHarness(model, {}, { metricsToken, ...options });

/** The samples of a scrape by their text, such as `name{label="value"}`. */
export type Scrape = ReadonlyMap<string, number>;

/** The text that a monitoring server reads. */
export async function scrape(h: Pick<Harness, "request">): Promise<Scrape> {
  const answer = await h.request("/metrics", { headers: { Authorization: `Bearer ${metricsToken}` } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return parse(await answer.text());
}

function parse(text: string): Scrape {
  const samples = new Map<string, number>();
  for (const line of text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))) {
    const [, name = "", value = ""] = /^(\S+?(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
    expect(name, line).not.toBe("");
    expect(samples.has(name), line).toBe(false);
    samples.set(name, Number(value));
  }
  return samples;
}

/** The samples of one metric, by their labels. */
export function samplesOf(found: Scrape, metric: string): Record<string, number> {
  const own = [...found].filter(([name]) => name === metric || name.startsWith(`${metric}{`));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(metric.length), value]));
}
