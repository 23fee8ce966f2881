import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { unreadStatements } from "../../../src/features/memories/extraction/unread.ts";
import { writeFacts } from "../../../src/features/memories/store-statements.ts";
import { openStatement } from "../../../src/features/turns/place/open-statement.ts";
import { explaining, type PlanNode } from "../../plan.ts";
import { converse, memoryHarness } from "./memories.ts";

/** An agent with 20,000 memories of three end users, of which PostgreSQL knows that few users have many each. */
async function crowded() {
  const h = await memoryHarness({ fastModel: "openai:fast" });
  await h.save("Likes tea", { subject: "web:bob" });
  await h.database.query(
    `insert into memories (id, agent_id, organization_id, subject, content, digest, search)
     select gen_random_uuid(), agent_id, organization_id, subject || n % 3, content, int8send(n), search from memories, generate_series(1, 20000) n`,
    [],
  );
  await h.database.query("analyze memories", []);
  const explained = explaining(h.database);
  const scans = () => explained.scans().filter((node) => node["Relation Name"] === "memories");
  /** How the plan of a statement reads memories that PostgreSQL keeps whatever the values are. */
  const kept = async (text: string) => {
    const plan = await h.database.query<{ "QUERY PLAN": unknown }>(`explain (generic_plan, format json) ${text}`, []);
    return [...JSON.stringify(plan).matchAll(/"Node Type":"([^"]+)"[^{}]*"Relation Name":"memories"/g)].map(
      ([, type]) => type,
    );
  };
  return { ...h, explained: explained.database, scans, kept };
}

/** How a step reads, and how many rows it reads in vain. */
const reads = (nodes: readonly PlanNode[]) =>
  nodes.map((node) => [node["Node Type"], (node["Rows Removed by Filter"] ?? 0) * node["Actual Loops"]]);

test("that nothing is known of an end user is seen without a look at what is known of others", async () => {
  const h = await crowded();
  const { conversationId } = await converse(h, [["I live in Bern", "Nice!"]]);
  await unreadStatements(h.explained).sourceOf.run([conversationId]);
  expect(reads(h.scans())).toEqual([["Index Only Scan", 0]]);
});

test("nor is it looked at to store what is the first of end users", async () => {
  const h = await crowded();
  const { id: agentId, organizationId } = h.agent;
  const fact = { agentId, organizationId, content: "Sings", digest: "00", words: null, search: ["sings"] };
  const first = { ...fact, category: null, importance: null, conversationId: null, known: null, first: true };
  await writeFacts(
    h.explained,
    (["web:ada", "web:eve"] as const).map((subject, nth) => ({ ...first, nth, id: newId(), subject })),
  );
  expect(reads(h.scans()).filter(([, inVain]) => inVain !== 0)).toEqual([]);
  expect((await h.list("?subject=eve")).memories).toHaveLength(1);
});

test("nor does a turn look at it", async () => {
  const h = await crowded();
  const parts = { throttled: false, stored: true, remembers: true, ofAgent: false, ofUser: false };
  expect(await h.kept(openStatement(parts).text)).toEqual(["Index Only Scan", "Index Only Scan"]);
});
