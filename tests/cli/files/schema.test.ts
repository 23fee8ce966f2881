import { readFileSync } from "node:fs";
import { Validator } from "@cfworker/json-schema";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readSet } from "../../../src/cli/files/read-set.ts";
import { publishedSchemas } from "../../../src/cli/pull/gather.ts";
import { fullAgent } from "../../features/bundles/full-agent.ts";
import { directory } from "./directory.ts";
import { read, world } from "./world.ts";

/** The problems that an editor shows for a text. */
function marks(name: string, text: string): string[] {
  const validator = new Validator(publishedSchemas[name] ?? false, "2020-12", false);
  return validator.validate(parse(text)).errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}

test("an editor finds nothing wrong with what pull writes, and marks what apply refuses", async () => {
  const w = await world();
  await fullAgent(w);
  const root = directory();
  await w.pull(root);
  const agent = read(root, "agents/shop.yaml");
  expect(marks("agent", agent)).toEqual([]);
  expect(marks("skill", read(root, "skills/shop.yaml"))).toEqual([]);
  expect(JSON.parse(read(root, "schema/agent.schema.json"))).toEqual(publishedSchemas.agent);
  expect(marks("agent", agent.replace("model:", "modle:")).join()).toMatch(/modle/);
  expect(marks("agent", agent.replace(/maxSteps: \d+/, "maxSteps: many")).join()).toMatch(/maxSteps/);
});

test("the files in the documentation are ones that apply and editors take", async () => {
  const page = readFileSync(new URL("../../../docs/agents-as-files.md", import.meta.url), "utf8");
  const texts = [...page.matchAll(/```yaml\n(# yaml-language-server[\s\S]*?)```/g)].map(([, text = ""]) => text);
  expect(texts).toHaveLength(2);
  const [agent = "", skill = ""] = texts;
  expect([...marks("agent", agent), ...marks("skill", skill)]).toEqual([]);
  // The page shows no picture in its example.
  const root = directory({ "agents/support.yaml": agent.replace(/^ +icon:.*\n/m, ""), "skills/refunds.yaml": skill });
  expect((await readSet(root, {})).problems).toEqual([]);
  const rows = [...page.matchAll(/^\|[^|]*\| `((?:secrets|skillEnv|channels|eventSources): .*)` \|$/gm)].map(
    ([, row = ""]) => row,
  );
  expect(rows).toHaveLength(4);
  const file = ["version: '1.3'", "type: instance", "instance:", "  slug: a", ...rows.map((row) => `  ${row}`)].join(
    "\n",
  );
  expect(marks("agent", file)).toEqual([]);
  expect((await readSet(directory({ "agents/a.yaml": file }), {})).problems).toEqual([]);
});
