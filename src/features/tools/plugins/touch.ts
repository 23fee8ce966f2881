import { eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { agents } from "../../../db/schema.ts";

/** Makes all agents of the organization load again, since cached agents contain the plugins' tools. */
export async function touchAgents(tx: Db, organizationId: string): Promise<void> {
  await tx
    .update(agents)
    .set({ revision: sql`${agents.revision} + 1` })
    .where(eq(agents.organizationId, organizationId));
}
