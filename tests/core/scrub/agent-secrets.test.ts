import { expect, test } from "vitest";
import { AgentSecrets } from "../../../src/core/scrub/agent-secrets.ts";

const none: ReadonlySet<string> = new Set();

test("an agent's earlier values stay hidden along with its current ones, and another agent's don't join them", async () => {
  const known = new AgentSecrets();
  expect(known.serve("a", ["first-1", "second-2"], none)).toEqual(["first-1", "second-2"]);
  expect(known.serve("b", ["of-b-33"], none)).toEqual(["of-b-33"]);
  expect(known.serve("a", ["second-2", "third-3"], none)).toEqual(["second-2", "third-3", "first-1"]);
  const scrub = await known.scrubOf("a");
  expect(scrub("first-1 second-2 third-3 of-b-33")).toBe("[secret] [secret] [secret] of-b-33");
});

test("a value that is no secret any more is shown again, unless it is one under another name", () => {
  const known = new AgentSecrets();
  known.serve("a", ["first-1", "second-2"], none);
  expect(known.serve("a", ["second-2"], new Set(["first-1", "second-2"]))).toEqual(["second-2"]);
  expect(known.serve("a", [], none)).toEqual(["second-2"]);
});

test("of one agent the newest 256 KB are remembered, however many its values are", () => {
  const known = new AgentSecrets();
  known.serve("a", ["oldest-1"], none);
  known.serve(
    "a",
    Array.from({ length: 6_000 }, (_, index) => `value-${index}`),
    none,
  );
  const hidden = known.serve("a", [], none);
  expect(hidden.length).toBeGreaterThan(3_000);
  expect(hidden.length).toBeLessThan(4_096);
  expect(hidden).not.toContain("oldest-1");
});

test("of all agents those are forgotten that were loaded longest ago", async () => {
  const known = new AgentSecrets();
  const large = (agent: number) => `${agent}`.padEnd(200_000, "x");
  for (let agent = 0; agent < 60; agent += 1) {
    known.serve("often", ["of-often"], none);
    known.serve(`agent-${agent}`, [large(agent)], none);
  }
  expect(known.serve("often", [], none)).toEqual(["of-often"]);
  expect(known.serve("agent-59", [], none)).toHaveLength(1);
  expect(known.serve("agent-0", [], none)).toEqual([]);
});
