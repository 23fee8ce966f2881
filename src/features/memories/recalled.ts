import { sql } from "drizzle-orm";
import { fields, type RowOf } from "../../db/fragments.ts";
import { memories } from "../../db/schema.ts";

/** A memory, as turns use it. */
export interface Recalled {
  id: string;
  content: string;
  category: string;
  importance: number;
  updatedAt: Date;
}

/** The columns of a `RecalledRow`. */
export const recalled = fields({
  id: memories.id,
  content: memories.content,
  category: memories.category,
  importance: memories.importance,
  updatedAtMs: sql<number>`(extract(epoch from ${memories.updatedAt}) * 1000)::float8`,
});

export type RecalledRow = RowOf<typeof recalled>;

export function toRecalled({ id, content, category, importance, updatedAtMs }: RecalledRow): Recalled {
  return { id, content, category, importance, updatedAt: new Date(updatedAtMs) };
}
