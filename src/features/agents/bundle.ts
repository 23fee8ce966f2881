import type { Db } from "../../db/client.ts";
import type { AgentRow } from "./find.ts";
import { exportIcon } from "./icon.ts";
import { type BundledAgent, bundledAgent } from "./schema.ts";

const { icon: _apart, ...fields } = bundledAgent;

/** An agent's own fields, as a bundle holds them. */
export async function exportAgent(db: Db, agent: AgentRow): Promise<BundledAgent> {
  const own = Object.keys(fields).map((field) => [field, agent[field as keyof typeof fields]]);
  return { ...(Object.fromEntries(own) as Omit<BundledAgent, "icon">), icon: await exportIcon(db, agent.id) };
}
