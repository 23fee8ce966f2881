import { type SQL, sql } from "drizzle-orm";
import { writeArray } from "../../../../db/arrays.ts";
import { plugins } from "../../../../db/schema.ts";

/** A tool in an MCP server's list. */
export interface ListedTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

// An organization's tools may have 16 MiB together, mostly schemas, so the database selects only the needed parts.

const tool = sql`listed.tool`;

/** Selects the tools of a plugin with these canonical names. */
export function namedTools(names: readonly string[]): SQL<ListedTool[]> {
  const namespaces = [...new Set(names.map((name) => name.slice(0, Math.max(0, name.indexOf(":")))))];
  const isNamed = sql`${plugins.namespace} || ':' || (${tool} ->> 'name') = any(${writeArray(names)}::text[])`;
  const own = sql`case when ${plugins.namespace} = any(${writeArray(namespaces)}::text[]) then ${plugins.tools} else '[]' end`;
  return sql`(
    select coalesce(jsonb_agg(${tool} order by listed.at), '[]')
    from jsonb_array_elements(${own}) with ordinality as listed(tool, at) where ${isNamed})`;
}

/** The tools of a plugin without their schemas. */
export const describedTools: SQL<Omit<ListedTool, "inputSchema">[]> = sql`(
  select coalesce(jsonb_agg(${tool} - 'inputSchema' order by listed.at), '[]')
  from jsonb_array_elements(${plugins.tools}) with ordinality as listed(tool, at))`;
