import { and, eq, inArray, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import type { ImportNotes } from "../../core/bundle.ts";
import { writeArray } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { agentTools } from "../../db/schema.ts";
import type { AgentRow } from "../agents/index.ts";
import { availableTools, newlyAsking, readSettings, type ToolSetting } from "./agent-tools.ts";
import type { BundledTools } from "./schema.ts";

/** The chosen tools, and those whose calls need approval, for a bundle. */
export async function exportTools(db: Db, agentId: string): Promise<Required<BundledTools>> {
  const { settings, remembered } = await readSettings(db, agentId);
  const those = (test: (setting: ToolSetting) => boolean) =>
    [...settings].flatMap(([name, setting]) => (test(setting) ? [name] : []));
  const asking = new Set([...those(({ needsApproval }) => needsApproval), ...remembered]);
  return { manualTools: those(({ chosen }) => chosen).sort(), toolsNeedingApproval: [...asking].sort() };
}

/**
 * Gives an agent exactly these tools, besides those of its skills, in a transaction of `writeAgent` and after its
 * skills. Leaves out an unavailable tool, unless it was on before. Returns the tools that no longer need approval.
 */
export async function importTools(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  { manualTools, toolsNeedingApproval }: BundledTools,
  notes: ImportNotes,
): Promise<string[]> {
  const { settings, remembered } = await readSettings(tx, agent.id);
  const known = new Set((await availableTools(ctx, tx, agent)).map(({ name }) => name));
  const usable = (field: keyof BundledTools, names: readonly string[]) =>
    new Set(
      names.filter((name, index) => {
        const had = settings.has(name) || (field === "toolsNeedingApproval" && remembered.has(name));
        if (known.has(name) || had) return true;
        notes.warn(
          "tool_unusable",
          ["instance", field, index],
          `The agent can't have the tool ${name}: it is left out`,
        );
        return false;
      }),
    );
  const chosen = usable("manualTools", manualTools);
  const asked = [...settings].flatMap(([name, { needsApproval }]) => (needsApproval ? [name] : []));
  const before = new Set([...asked, ...remembered]);
  const approval = toolsNeedingApproval
    ? usable("toolsNeedingApproval", toolsNeedingApproval)
    : new Set([...before, ...(await newlyAsking(tx, ctx, agent, chosen, settings))]);
  await replaceRows(tx, agent.id, chosen, approval);
  return [...before].filter((name) => !approval.has(name)).sort();
}

async function replaceRows(
  tx: Db,
  agentId: string,
  chosen: ReadonlySet<string>,
  approval: ReadonlySet<string>,
): Promise<void> {
  const ofAgent = eq(agentTools.agentId, agentId);
  await tx.delete(agentTools).where(and(ofAgent, inArray(agentTools.source, ["manual", "global"])));
  const needsApproval = sql`${agentTools.name} = any(${writeArray([...approval])}::text[])`;
  const bySkill = await tx
    .update(agentTools)
    .set({ needsApproval })
    .where(ofAgent)
    .returning({ name: agentTools.name });
  const on = new Set([...chosen, ...bySkill.map(({ name }) => name)]);
  const rows = [
    ...[...chosen].map((name) => ({ agentId, name, source: "manual", needsApproval: approval.has(name) })),
    // Tools that are off, but will need approval once they are on.
    ...[...approval]
      .filter((name) => !on.has(name))
      .map((name) => ({ agentId, name, source: "global", needsApproval: true })),
  ];
  if (rows.length > 0) await tx.insert(agentTools).values(rows);
}
