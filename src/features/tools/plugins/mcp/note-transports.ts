import { eq, isNull } from "drizzle-orm";
import type { Services } from "../../../../context/ctx.ts";
import { plugins } from "../../../../db/schema.ts";
import { openTransport } from "./store.ts";

/**
 * Notes the type of the transport beside each sealed one that an earlier release stored. One that does not open is left
 * as it is: its tools can't be called.
 */
export async function noteTransports({ database: { db }, cipher, log }: Services): Promise<void> {
  const rows = await db.select().from(plugins).where(isNull(plugins.transport));
  for (const row of rows) {
    const transport = await openTransport(cipher, row).catch(() => null);
    if (transport === null) log.warn({ namespace: row.namespace }, "The configuration of a plugin does not open");
    else await db.update(plugins).set({ transport: transport.type }).where(eq(plugins.id, row.id));
  }
}
