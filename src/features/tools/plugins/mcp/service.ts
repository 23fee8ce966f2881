import { count, eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../../context/ctx.ts";
import { changesBetween } from "../../../../core/changes.ts";
import { EngineError, notFound } from "../../../../core/errors.ts";
import { newId } from "../../../../core/ids.ts";
import type { McpTransport } from "../../../../core/ports.ts";
import { scrubber } from "../../../../core/scrub/scrub.ts";
import { clip, storable } from "../../../../core/text/text.ts";
import type { Db } from "../../../../db/client.ts";
import { plugins } from "../../../../db/schema.ts";
import { touchAgentsOf } from "../../../agents/index.ts";
import { writeOrganization } from "../../../organizations/index.ts";
import { boundListing, type Listing, mostTools } from "./listing.ts";
import { unmaskTransport } from "./masks.ts";
import { requireAllowed } from "./offered.ts";
import { listingSecrets, namespaceProblem } from "./rules.ts";
import type { Plugin, PluginSettings } from "./schema.ts";
import {
  findPlugin,
  findPlugins,
  isPlugin,
  isUnchanged,
  openTransport,
  type PluginRow,
  sealTransport,
  toPlugin,
  versionOf,
} from "./store.ts";
import { serverId, serverOf } from "./tools.ts";

const mostPlugins = 64;

/** The organization's plugins, by namespace. */
export async function listPlugins(ctx: Ctx): Promise<Plugin[]> {
  const rows = await findPlugins(ctx.db, ctx.membership.organizationId);
  return Promise.all(rows.map((row) => toPlugin(ctx, row)));
}

/** Throws the 404. */
export async function getPlugin(ctx: Ctx, namespace: string): Promise<Plugin> {
  return toPlugin(ctx, await requirePlugin(ctx, namespace));
}

/**
 * Lists the tools of the plugin's server, and stores plugin and tools. If the server can't be reached, the plugin is
 * stored with the reason. Throws 400 for invalid settings, and 409 when somebody else changes the plugin meanwhile.
 */
export async function savePlugin(ctx: Ctx, namespace: string, settings: PluginSettings): Promise<Plugin> {
  const problem = namespaceProblem(namespace);
  if (problem !== null) throw new EngineError("bad-request", problem);
  requireAllowed(settings.transport, ctx.options);
  const { organizationId } = ctx.membership;
  const stored = await findPlugin(ctx.db, organizationId, namespace);
  if (!stored) requireFree(ctx, namespace);
  const known = stored && (await openTransport(ctx.cipher, stored));
  const transport = unmasked(settings.transport, known);
  const enabled = settings.enabled ?? stored?.enabled ?? true;
  const sealed = await sealTransport(ctx.cipher, organizationId, namespace, transport);
  const found = enabled ? await listTools(ctx, namespace, transport) : {};

  const updated = stored && known ? updateOf([stored.enabled, known], [enabled, transport]) : created;
  const change = {
    action: stored ? "plugin.update" : "plugin.create",
    target: namespace,
    summary: { kind: settings.kind, ...auditSummary(transport), enabled, ...updated.told },
    unchanged: updated.unchanged,
  };
  const row = await writeOrganization(ctx, change, async (tx) => {
    await requireUnchanged(tx, organizationId, namespace, stored);
    const author = authorOf(ctx);
    const config = { keyId: sealed.keyId, config: sealed.ciphertext, transport: transport.type };
    const values = { enabled, ...config, updatedBy: author, ...found };
    const [saved] = await tx
      .insert(plugins)
      .values({ id: newId(), organizationId, namespace, kind: settings.kind, createdBy: author, ...values })
      .onConflictDoUpdate({
        target: [plugins.organizationId, plugins.namespace],
        set: { ...values, updatedAt: sql`now()` },
      })
      .returning();
    await touchAgentsOf(tx, organizationId);
    if (!saved) throw new Error("An upsert returned no row");
    return saved;
  });
  if (!enabled) ctx.mcp.forget(serverId(organizationId, namespace));
  return toPlugin(ctx, row);
}

/**
 * Lists the server's tools again. Throws 404, 400 for a process that may not be started, 409 for a disabled plugin and
 * when somebody else changed it meanwhile.
 */
export async function refreshPlugin(ctx: Ctx, namespace: string): Promise<Plugin> {
  const stored = await requirePlugin(ctx, namespace);
  if (!stored.enabled) throw new EngineError("conflict", "The plugin is disabled: enable it first");
  const { organizationId } = ctx.membership;
  const transport = await openTransport(ctx.cipher, stored);
  const found = await listTools(ctx, namespace, transport);
  const change = { action: "plugin.refresh", target: namespace, summary: { status: found.status } };
  const row = await writeOrganization(ctx, change, async (tx) => {
    await requireUnchanged(tx, organizationId, namespace, stored);
    const [saved] = await tx.update(plugins).set(found).where(isPlugin(organizationId, namespace)).returning();
    await touchAgentsOf(tx, organizationId);
    if (!saved) throw notFound("Plugin");
    return saved;
  });
  return toPlugin(ctx, row);
}

/** Deletes a plugin; agents lose its tools with their next turn. Throws the 404. */
export async function deletePlugin(ctx: Ctx, namespace: string): Promise<void> {
  const { organizationId } = ctx.membership;
  await requirePlugin(ctx, namespace);
  await writeOrganization(ctx, { action: "plugin.delete", target: namespace }, async (tx) => {
    const gone = await tx.delete(plugins).where(isPlugin(organizationId, namespace)).returning({ id: plugins.id });
    if (gone.length === 0) throw notFound("Plugin");
    await touchAgentsOf(tx, organizationId);
  });
  ctx.mcp.forget(serverId(organizationId, namespace));
}

async function requirePlugin({ db, membership }: Ctx, namespace: string): Promise<PluginRow> {
  const row = namespaceProblem(namespace) === null ? await findPlugin(db, membership.organizationId, namespace) : null;
  if (!row) throw notFound("Plugin");
  return row;
}

/** Throws the 400 for the namespace of an installed plugin, unless this server has had it before. */
function requireFree({ plugins: families }: Ctx, namespace: string): void {
  const family = families.find((one) => one.namespace === namespace);
  if (!family) return;
  throw new EngineError(
    "bad-request",
    `namespace: ${namespace} is that of the installed plugin ${family.title}; choose another one, such as my-${namespace}`,
  );
}

function unmasked(given: McpTransport, stored: McpTransport | null): McpTransport {
  try {
    return unmaskTransport(given, stored);
  } catch (error) {
    throw new EngineError("bad-request", error instanceof Error ? error.message : "transport: is not valid");
  }
}

interface ServerState {
  status: Plugin["status"];
  lastError: string | null;
  refreshedAt: Date;
  /** Absent when the server could not be reached: the stored tools stay. */
  tools?: Listing["tools"];
}

async function listTools(ctx: Ctx, namespace: string, transport: McpTransport): Promise<ServerState> {
  const { organizationId } = ctx.membership;
  const server = serverOf(ctx, { organizationId, namespace, version: await versionOf(transport), transport });
  const refreshedAt = new Date(ctx.clock.now());
  try {
    const listed = await ctx.mcp.list(server, mostTools);
    const { tools, note } = boundListing(listed, scrubber(listingSecrets(transport)));
    return { status: "connected", lastError: note, refreshedAt, tools };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { status: "failed", lastError: storable(clip(reason, 1_000)), refreshedAt };
  }
}

/**
 * Throws 409 when the plugin differs from `seen`, or when the organization has too many plugins. Call it in a
 * transaction of `writeOrganization`, under whose lock neither can change.
 */
async function requireUnchanged(
  tx: Db,
  organizationId: string,
  namespace: string,
  seen: PluginRow | null,
): Promise<void> {
  const row = await findPlugin(tx, organizationId, namespace);
  if (!isUnchanged(seen, row)) {
    throw new EngineError("conflict", "Somebody else changed this plugin meanwhile: look at it, then try again");
  }
  if (row) return;
  const [{ total } = { total: 0 }] = await tx
    .select({ total: count() })
    .from(plugins)
    .where(eq(plugins.organizationId, organizationId));
  if (total >= mostPlugins) {
    throw new EngineError("conflict", `The organization has ${mostPlugins} plugins: delete one first`);
  }
}

const created = { told: {}, unchanged: () => false };

/** The changes of an update, for the audit log. `replaced` lists changed parts that may contain a secret. */
function updateOf([was, before]: [boolean, McpTransport], [is, after]: [boolean, McpTransport]) {
  const told = (enabled: boolean, transport: McpTransport) => ({ enabled, ...auditSummary(transport) });
  const changes = changesBetween(told(was, before), told(is, after));
  const replaced = Object.keys(changesBetween(withheld(before), withheld(after)));
  return { told: { changes, replaced }, unchanged: () => replaced.length === 0 && Object.keys(changes).length === 0 };
}

/** The parts of a transport that the audit log names but does not show: an address or arguments may contain a key. */
function withheld(transport: McpTransport): object {
  if (transport.type === "http") return { url: transport.url, headers: transport.headers };
  return { args: transport.args, env: transport.env };
}

/** The transport for the audit log: its destination without its secrets. */
function auditSummary(transport: McpTransport): Record<string, unknown> {
  if (transport.type === "http") {
    return { transport: "http", origin: new URL(transport.url).origin, headers: Object.keys(transport.headers) };
  }
  return { transport: "stdio", command: transport.command, env: Object.keys(transport.env) };
}
