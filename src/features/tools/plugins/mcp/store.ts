import { and, asc, eq, getTableColumns, isNull } from "drizzle-orm";
import type { Services } from "../../../../context/ctx.ts";
import type { Cipher, Sealed } from "../../../../core/credentials/cipher.ts";
import { digest, toHex } from "../../../../core/ids.ts";
import type { McpTransport } from "../../../../core/ports.ts";
import type { Db } from "../../../../db/client.ts";
import { plugins } from "../../../../db/schema.ts";
import { type ListedTool, namedTools } from "./listed.ts";
import { maskTransport } from "./masks.ts";
import { isOffered, stdioProblem } from "./offered.ts";
import type { Plugin } from "./schema.ts";

export type PluginRow = typeof plugins.$inferSelect;

/** A plugin, with its configuration opened. */
export interface OpenPlugin {
  organizationId: string;
  namespace: string;
  /** Another text for each configuration. */
  version: string;
  transport: McpTransport;
  tools: readonly ListedTool[];
}

const place = (organizationId: string, namespace: string) => `${organizationId}:plugin:${namespace}`;

export function sealTransport(
  cipher: Cipher,
  organizationId: string,
  namespace: string,
  transport: McpTransport,
): Promise<Sealed> {
  return cipher.seal(JSON.stringify(transport), place(organizationId, namespace));
}

/** Decrypts a configuration. Throws an `EngineError` when no key opens it. */
export async function openTransport(
  cipher: Cipher,
  row: Pick<PluginRow, "organizationId" | "namespace" | "keyId" | "config">,
): Promise<McpTransport> {
  const { organizationId, namespace, keyId, config } = row;
  return JSON.parse(await cipher.open({ keyId, ciphertext: config }, place(organizationId, namespace)));
}

/** A digest of the decrypted configuration. Key rotation does not change it, so that the connection stays open. */
export const versionOf = async (transport: McpTransport) => toHex(await digest(JSON.stringify(transport)));

/** Whether the plugin was not saved in between. Each save has new bytes, since sealing begins with a random nonce. */
export function isUnchanged(seen: PluginRow | null, now: PluginRow | null): boolean {
  const mark = (row: PluginRow | null) => (row ? toHex(row.config.subarray(0, 12)) : null);
  return mark(seen) === mark(now);
}

export async function findPlugin(db: Db, organizationId: string, namespace: string): Promise<PluginRow | null> {
  const [row] = await db.select().from(plugins).where(isPlugin(organizationId, namespace));
  return row ?? null;
}

export const isPlugin = (organizationId: string, namespace: string) =>
  and(eq(plugins.organizationId, organizationId), eq(plugins.namespace, namespace));

/** All plugins of an organization, by namespace. */
export function findPlugins(db: Db, organizationId: string): Promise<PluginRow[]> {
  return db.select().from(plugins).where(eq(plugins.organizationId, organizationId)).orderBy(asc(plugins.namespace));
}

/**
 * An organization's available plugins by their namespaces, opened for a turn, each with only the named tools: each cached
 * agent has a copy.
 */
export async function loadMcpPlugins(
  services: Services,
  organizationId: string,
  named: readonly string[],
): Promise<OpenPlugin[]> {
  const { database, cipher, options } = services;
  const rows = await database.db
    .select({ ...getTableColumns(plugins), tools: namedTools(named) })
    .from(plugins)
    .where(and(eq(plugins.organizationId, organizationId), isOffered(options)))
    .orderBy(plugins.namespace);
  const opened = rows.map(async (row) => {
    const transport = await openTransport(cipher, row);
    const version = await versionOf(transport);
    return { organizationId, namespace: row.namespace, version, transport, tools: row.tools };
  });
  return (await Promise.all(opened)).filter(({ transport }) => stdioProblem(transport, options) === null);
}

/** A plugin in its API form. A process that may not be started has no tools, and the reason instead. */
export async function toPlugin(
  { cipher, options }: Pick<Services, "cipher" | "options">,
  row: PluginRow,
): Promise<Plugin> {
  const { namespace, enabled, status, lastError, tools, updatedAt } = row;
  const transport = await openTransport(cipher, row);
  const problem = stdioProblem(transport, options);
  const known = problem === null ? ((status as Plugin["status"] | null) ?? "unknown") : "failed";
  return {
    namespace,
    kind: "mcp",
    transport: maskTransport(transport),
    enabled,
    status: enabled ? known : "disabled",
    lastError: enabled ? (problem ?? lastError) : null,
    tools: problem === null ? (tools as ListedTool[]).map(({ name, description }) => ({ name, description })) : [],
    updatedAt: updatedAt.toISOString(),
  };
}

/**
 * Stores the type of the transport beside configurations that an earlier release sealed. Skips one that can't be
 * opened: its tools can't be called anyway.
 */
export async function noteTransports({ database: { db }, cipher, log }: Services): Promise<void> {
  const rows = await db.select().from(plugins).where(isNull(plugins.transport));
  for (const row of rows) {
    const transport = await openTransport(cipher, row).catch(() => null);
    if (transport === null) log.warn({ namespace: row.namespace }, "The configuration of a plugin does not open");
    else await db.update(plugins).set({ transport: transport.type }).where(eq(plugins.id, row.id));
  }
}
