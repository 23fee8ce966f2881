import { getTableColumns, is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import * as schema from "../../src/db/schema.ts";
import type { Home, Person } from "./world.ts";

const all = Object.values(schema)
  .flatMap((one) => (is(one, PgTable) ? [getTableColumns(one)] : []))
  .flatMap((columns) => Object.entries(columns));

/** Every column of the database, by its API name and its SQL name. */
export const columnNames = [...new Set([...all.flatMap(([camel, { name }]) => [camel, name]), "__proto__"])].sort();

/** Values that are found nowhere unless a route stored a field it should ignore. */
export const marks = ["planted", "424242", "1999-12-31"];

/** A value for each column that its type takes: the ids are another organization's. */
export function planted({ id, workspaceId, agentId }: Home, person: Person): Map<string, unknown> {
  const ids: Record<string, string> = { organization_id: id, workspace_id: workspaceId, agent_id: agentId };
  const valueFor = (name: string, type: string) => {
    if (type === "PgUUID") return ids[name] ?? person.id;
    if (/Integer|Int|Double|Serial/.test(type)) return 424_242;
    if (type === "PgBoolean") return true;
    if (type === "PgTimestamp") return "1999-12-31T23:59:59.000Z";
    if (type === "PgArray") return ["planted"];
    return /Json/.test(type) ? { planted: true } : "planted";
  };
  return new Map(
    all.flatMap(([camel, { name, columnType }]) => {
      const value = valueFor(name, columnType);
      return [
        [camel, value],
        [name, value],
      ] as const;
    }),
  );
}
