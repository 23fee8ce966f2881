import { newId } from "../../../src/core/ids.ts";
import { auditLogs } from "../../../src/db/schema.ts";
import type { Harness } from "../../harness.ts";

type Entry = Partial<Omit<typeof auditLogs.$inferInsert, "createdAt">> & { at?: string };

/** Writes entries of the harness's organization as given, one second apart unless they have a time. */
export async function writeEntries({ services, organization }: Harness, entries: readonly Entry[]): Promise<void> {
  const start = Date.UTC(2025, 5, 1);
  const rows = entries.map(({ at, ...entry }, index) => ({
    id: newId(),
    organizationId: organization.id,
    actorType: "user",
    action: "agent.update",
    ...entry,
    createdAt: at === undefined ? new Date(start + index * 1000) : new Date(at),
  }));
  await services.database.db.insert(auditLogs).values(rows);
}
