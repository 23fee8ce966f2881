import { and, asc, eq } from "drizzle-orm";
import type { Cipher, Sealed } from "../../../core/cipher.ts";
import { digest, toHex } from "../../../core/ids.ts";
import type { McpTransport } from "../../../core/ports.ts";
import type { Db } from "../../../db/client.ts";
import { plugins } from "../../../db/schema.ts";
import type { ListedTool } from "../catalogue.ts";
import { maskTransport } from "./masks.ts";
import type { Plugin } from "./schema.ts";

export type PluginRow = typeof plugins.$inferSelect;

/** A plugin with its configuration opened. */
export interface OpenPlugin {
  organizationId: string;
  namespace: string;
  /** Differs for each configuration. */
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

/** Throws an `EngineError` when no key opens the configuration. */
export async function openTransport(cipher: Cipher, row: PluginRow): Promise<McpTransport> {
  const { organizationId, namespace, keyId, config } = row;
  return JSON.parse(await cipher.open({ keyId, ciphertext: config }, place(organizationId, namespace)));
}

/** A digest of the open configuration: it stays the same when keys are rotated, and so does the connection. */
export const versionOf = async (transport: McpTransport) => toHex(await digest(JSON.stringify(transport)));

/** Whether the plugin was not saved in between: each sealing begins with a random nonce. */
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

/** The enabled plugins of an organization, opened for a turn. */
export async function loadPlugins(db: Db, cipher: Cipher, organizationId: string): Promise<OpenPlugin[]> {
  const rows = (await findPlugins(db, organizationId)).filter(({ enabled, kind }) => enabled && kind === "mcp");
  return Promise.all(
    rows.map(async (row) => {
      const transport = await openTransport(cipher, row);
      const version = await versionOf(transport);
      return { organizationId, namespace: row.namespace, version, transport, tools: row.tools as ListedTool[] };
    }),
  );
}

/** A plugin as the wire shows it. */
export async function toPlugin(cipher: Cipher, row: PluginRow): Promise<Plugin> {
  const { namespace, enabled, status, lastError, tools, updatedAt } = row;
  return {
    namespace,
    kind: "mcp",
    transport: maskTransport(await openTransport(cipher, row)),
    enabled,
    status: enabled ? ((status as Plugin["status"] | null) ?? "unknown") : "disabled",
    lastError: enabled ? lastError : null,
    tools: (tools as ListedTool[]).map(({ name, description }) => ({ name, description })),
    updatedAt: updatedAt.toISOString(),
  };
}
