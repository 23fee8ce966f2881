import { sql } from "drizzle-orm";
import { check, customType, type PgColumn, timestamp, uuid } from "drizzle-orm/pg-core";
import { newId } from "../../core/ids.ts";

export const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => "bytea",
});

/** Drizzle's own type would parse values that came out of JSON a second time: the text "17" would become a number. */
export const jsonb = customType<{ data: unknown; driverData: string }>({
  dataType: () => "jsonb",
  toDriver: (value) => JSON.stringify(value),
});

export const tsvector = customType<{ data: string }>({ dataType: () => "tsvector" });

/** A UUIDv7, made by the application. */
export const id = () => uuid("id").primaryKey().$defaultFn(newId);

export const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

export const createdAt = () => moment("created_at").notNull().defaultNow();
export const updatedAt = () => moment("updated_at").notNull().defaultNow();

/** The organization of a row that is deleted with its agent. */
export const organizationId = () => uuid("organization_id").notNull();

/** The users who made and last changed a row (`authorOf`). There is no foreign key, since a row outlives its author. */
export const authorship = () => ({ createdBy: uuid("created_by"), updatedBy: uuid("updated_by") });

/** An enumeration as text with a check. */
export function oneOf(name: string, column: PgColumn, values: readonly string[]) {
  const list = sql.raw(values.map((value) => `'${value}'`).join(", "));
  return check(name, sql`${column} in (${list})`);
}
