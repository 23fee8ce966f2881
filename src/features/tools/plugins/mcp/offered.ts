import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Services } from "../../../../context/ctx.ts";
import { EngineError } from "../../../../core/errors.ts";
import type { McpTransport } from "../../../../core/ports.ts";
import { plugins } from "../../../../db/schema.ts";

/** Whether the installation starts MCP servers as processes. */
export type StdioOption = Pick<Services["options"], "allowStdioMcp">;

/** Selects the plugins whose tools are available: enabled ones; processes only when allowed. */
export function isOffered({ allowStdioMcp }: StdioOption): SQL | undefined {
  return and(eq(plugins.enabled, true), allowStdioMcp ? undefined : sql`${plugins.transport} is distinct from 'stdio'`);
}

/** Why a server may not be used; null when it may. */
export function stdioProblem({ type }: Pick<McpTransport, "type">, { allowStdioMcp }: StdioOption): string | null {
  if (type === "http" || allowStdioMcp) return null;
  return "This installation starts no MCP servers as processes: whoever runs it may set ALLOW_STDIO_MCP=true";
}

/** Throws the 400 for a process that may not be started. */
export function requireAllowed(transport: McpTransport, options: StdioOption): void {
  const problem = stdioProblem(transport, options);
  if (problem !== null) throw new EngineError("bad-request", problem);
}
