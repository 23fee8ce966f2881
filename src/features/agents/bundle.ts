import type { Ctx } from "../../context/ctx.ts";
import type { Db } from "../../db/client.ts";
import type { AgentRow } from "./find.ts";
import { exportIcon, importIcon } from "./icon.ts";
import { type BundledAgent, bundledAgent } from "./schema.ts";
import { changeAgent } from "./service.ts";

const { icon: _apart, ...fields } = bundledAgent;

/** An agent's own fields, in a bundle's form. */
export async function exportAgent(db: Db, agent: AgentRow): Promise<BundledAgent> {
  const own = Object.keys(fields).map((field) => [field, agent[field as keyof typeof fields]]);
  return { ...(Object.fromEntries(own) as Omit<BundledAgent, "icon">), icon: await exportIcon(db, agent.id) };
}

/** Sets exactly these fields of an agent, which keeps its slug, in a transaction of `writeAgent`. */
export async function importAgent(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  { slug: _kept, icon, name = agent.slug, ...wanted }: BundledAgent,
): Promise<AgentRow> {
  await importIcon(tx, agent.id, icon);
  return changeAgent(tx, ctx, agent, { ...wanted, name });
}
