import { and, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { type Changes, changesBetween } from "../../core/changes.ts";
import { EngineError } from "../../core/errors.ts";
import { askingTools } from "../../core/plugins/plugins.ts";
import { writeArray } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { agentTools } from "../../db/schema.ts";
import { type AgentRow, findAgent, writeAgent } from "../agents/index.ts";
import { storedKeys } from "../secrets/index.ts";
import { agentToolsOf } from "./agents-as-tools.ts";
import { listTools } from "./catalogue.ts";
import type { ToolDefinition } from "./definition.ts";
import { familiesOf } from "./plugins/families/of-organization.ts";
import type { AgentTools, RequiredSecrets, ToolChanges } from "./schema.ts";

/** Why an agent's tool is on. */
export interface ToolSetting {
  /** Whether a skill requires it, so that it can't be turned off. */
  bySkill: boolean;
  /** Whether a person chose it. */
  chosen: boolean;
  needsApproval: boolean;
}

/** The enabled tools, by canonical name. */
export async function toolSettings(db: Db, agentId: string): Promise<Map<string, ToolSetting>> {
  return (await readSettings(db, agentId)).settings;
}

/** `toolSettings`, and the names of disabled tools that will need approval when they are turned on again. */
export async function readSettings(db: Db, agentId: string) {
  const rows = await db.select().from(agentTools).where(eq(agentTools.agentId, agentId));
  const remembered = new Set(rows.flatMap(({ name, source }) => (source === "global" ? [name] : [])));
  const settings = new Map<string, ToolSetting>();
  for (const { name, source, needsApproval } of rows) {
    if (source === "global") continue;
    const setting = settings.get(name) ?? { bySkill: false, chosen: false, needsApproval: false };
    if (source === "skill") setting.bySkill = true;
    else setting.chosen = true;
    setting.needsApproval ||= needsApproval;
    settings.set(name, setting);
  }
  return { settings, remembered };
}

/** All tools available to the agent, with their settings. Throws the 404. */
export async function listAgentTools(ctx: Ctx, slug: string): Promise<AgentTools["tools"]> {
  const agent = await findAgent(ctx, slug);
  const settings = await toolSettings(ctx.db, agent.id);
  const stored = await storedKeys(ctx.db, agent.id);
  const definitions = await availableTools(ctx, ctx.db, agent);
  return definitions.map((definition) => {
    const setting = settings.get(definition.name);
    return {
      ...wireTool(definition),
      source: setting ? (setting.bySkill ? ("skill" as const) : ("manual" as const)) : null,
      enabled: setting !== undefined,
      needsApproval: setting?.needsApproval ?? false,
      missingSecrets: missingKeys(definition, stored),
    };
  });
}

const missingKeys = ({ requiredSecrets }: ToolDefinition, stored: ReadonlySet<string>) =>
  requiredSecrets.flatMap(({ key, optional }) => (optional || stored.has(key) ? [] : [key]));

/** All tools available to an agent, on or off. */
export async function availableTools(ctx: Ctx, db: Db, agent: AgentRow): Promise<ToolDefinition[]> {
  return [...(await listTools(db, ctx, agent.organizationId)), ...(await agentToolsOf(db, agent))];
}

/** Enables exactly these tools. Throws 404, and 400 for unknown names and for leaving out a tool that a skill requires. */
export async function saveAgentTools(ctx: Ctx, slug: string, changes: ToolChanges): Promise<AgentTools["tools"]> {
  const enabled = new Set(changes.enabled);
  const summary: Record<string, unknown> = {};
  const changed: Changes = {};
  await writeAgent(ctx, slug, { action: "agent.tool.update", summary, changes: changed }, async (tx, agent) => {
    const { id } = agent;
    const { settings, remembered } = await readSettings(tx, id);
    const known = new Set((await availableTools(ctx, tx, agent)).map(({ name }) => name));
    requireKnown(known, [...enabled, ...(changes.needsApproval ?? [])], settings);
    requireSkillTools(settings, enabled, known);
    const asks = (name: string) => (settings.get(name)?.needsApproval ?? false) || remembered.has(name);
    const newly = new Set(await newlyAsking(tx, ctx, agent, enabled, settings));
    const wouldAsk = (name: string) => asks(name) || newly.has(name);
    const approval = approvalSet(changes, enabled, wouldAsk);
    // A caller who may choose tools may also remove their need for approval; the audit log lists these tools.
    const approvalRemoved = [...new Set([...settings.keys(), ...remembered, ...newly])].filter(
      (name) => wouldAsk(name) && !approval.has(name) && (enabled.has(name) || settings.get(name)?.bySkill === false),
    );
    summary.approvalRemoved = approvalRemoved;
    const before = { enabled: [...settings.keys()].sort(), needsApproval: [...settings.keys()].filter(asks).sort() };
    const after = { enabled: [...enabled].sort(), needsApproval: [...approval].sort() };
    Object.assign(changed, changesBetween(before, after));
    await tx.delete(agentTools).where(and(eq(agentTools.agentId, id), eq(agentTools.source, "manual")));
    // A tool that only a skill turned on is in `enabled`, but not chosen: it is removed together with the skill.
    const chosen = [...enabled].filter((name) => settings.get(name)?.chosen || !settings.get(name)?.bySkill);
    if (chosen.length > 0) {
      const rows = chosen.map((name) => ({ agentId: id, name, source: "manual", needsApproval: approval.has(name) }));
      await tx.insert(agentTools).values(rows);
    }
    await setApproval(tx, id, [...enabled], approval);
  });
  return listAgentTools(ctx, slug);
}

/** The newly enabled tools for which their plugin requires approval by default. */
export async function newlyAsking(
  tx: Db,
  { plugins }: Ctx,
  { organizationId }: AgentRow,
  enabled: ReadonlySet<string>,
  settings: ReadonlyMap<string, ToolSetting>,
): Promise<string[]> {
  const byDefault = askingTools(await familiesOf(tx, plugins, organizationId));
  return byDefault.filter((name) => enabled.has(name) && !settings.has(name));
}

/** The secrets that the enabled tools need, each once. Throws the 404. */
export async function listRequiredSecrets(ctx: Ctx, slug: string): Promise<RequiredSecrets["requiredSecrets"]> {
  const { id, organizationId } = await findAgent(ctx, slug);
  const settings = await toolSettings(ctx.db, id);
  const stored = await storedKeys(ctx.db, id);
  const required = new Map<string, RequiredSecrets["requiredSecrets"][number]>();
  for (const definition of await listTools(ctx.db, ctx, organizationId)) {
    if (!settings.has(definition.name)) continue;
    for (const secret of wireTool(definition).requiredSecrets) {
      const known = required.get(secret.key) ?? { ...secret, tools: [], configured: stored.has(secret.key) };
      known.tools.push(definition.name);
      required.set(secret.key, known);
    }
  }
  return [...required.values()];
}

/** Throws for an unknown tool. An enabled tool is accepted even if its plugin is gone. */
function requireKnown(
  known: ReadonlySet<string>,
  names: readonly string[],
  settings: ReadonlyMap<string, ToolSetting>,
): void {
  const unknown = [...new Set(names)].filter((name) => !known.has(name) && !settings.has(name));
  if (unknown.length > 0) throw new EngineError("bad-request", `Unknown tools: ${unknown.join(", ")}`);
}

/**
 * Throws when a tool that a skill requires is left out, unless its plugin is gone or off, since callers can't see it then.
 */
function requireSkillTools(
  settings: ReadonlyMap<string, ToolSetting>,
  enabled: ReadonlySet<string>,
  known: ReadonlySet<string>,
): void {
  const missing = [...settings].flatMap(([name, { bySkill }]) =>
    bySkill && known.has(name) && !enabled.has(name) ? [name] : [],
  );
  if (missing.length === 0) return;
  throw new EngineError(
    "bad-request",
    `An enabled skill requires ${missing.join(", ")}: disable the skill first, or leave the tool on`,
  );
}

function approvalSet(
  { needsApproval }: ToolChanges,
  enabled: ReadonlySet<string>,
  asks: (name: string) => boolean,
): Set<string> {
  if (!needsApproval) return new Set([...enabled].filter(asks));
  const off = needsApproval.filter((name) => !enabled.has(name));
  if (off.length > 0) throw new EngineError("bad-request", `needsApproval names tools that are off: ${off.join(", ")}`);
  return new Set(needsApproval);
}

/** Changes the approval of the named tools; the others stay as they are. */
async function setApproval(
  tx: Db,
  agentId: string,
  enabled: readonly string[],
  approval: ReadonlySet<string>,
): Promise<void> {
  const named = and(eq(agentTools.agentId, agentId), sql`${agentTools.name} = any(${writeArray(enabled)}::text[])`);
  await tx.delete(agentTools).where(and(named, eq(agentTools.source, "global")));
  const needsApproval = sql`${agentTools.name} = any(${writeArray([...approval])}::text[])`;
  await tx.update(agentTools).set({ needsApproval }).where(named);
}

/** Copies the lists of a definition, which is shared and read-only. */
export function wireTool({ requiredSecrets, ...definition }: ToolDefinition) {
  return {
    ...definition,
    requiredSecrets: requiredSecrets.map(({ choices, ...secret }) => ({
      ...secret,
      ...(choices ? { choices: [...choices] } : {}),
    })),
  };
}
