import { and, eq, inArray } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { agentTools } from "../../db/schema.ts";
import { findAgent, writeAgent } from "../agents/index.ts";
import { storedKeys } from "../secrets/index.ts";
import { listTools } from "./catalogue.ts";
import type { ToolDefinition } from "./definition.ts";
import type { AgentTools, RequiredSecrets, ToolChanges } from "./schema.ts";

/** Why a tool of an agent is on. */
export interface ToolSetting {
  /** A skill requires it, so that it can't be turned off. */
  bySkill: boolean;
  /** Somebody chose it. */
  chosen: boolean;
  needsApproval: boolean;
}

/** The tools that are on, by canonical name. */
export async function toolSettings(db: Db, agentId: string): Promise<Map<string, ToolSetting>> {
  const rows = await db.select().from(agentTools).where(eq(agentTools.agentId, agentId));
  const settings = new Map<string, ToolSetting>();
  for (const { name, source, needsApproval } of rows) {
    const setting = settings.get(name) ?? { bySkill: false, chosen: false, needsApproval: false };
    if (source === "skill") setting.bySkill = true;
    else setting.chosen = true;
    setting.needsApproval ||= needsApproval;
    settings.set(name, setting);
  }
  return settings;
}

/** All tools that the agent can have, and which it has. Throws the 404. */
export async function listAgentTools(ctx: Ctx, slug: string): Promise<AgentTools["tools"]> {
  const { id, organizationId } = await findAgent(ctx, slug);
  const settings = await toolSettings(ctx.db, id);
  const definitions = await listTools(ctx.db, organizationId);
  return definitions.map((definition) => {
    const setting = settings.get(definition.name);
    return {
      ...wireTool(definition),
      source: setting ? (setting.bySkill ? ("skill" as const) : ("manual" as const)) : null,
      enabled: setting !== undefined,
      needsApproval: setting?.needsApproval ?? false,
    };
  });
}

/** Turns exactly these tools on. Throws the 404, and the 400 of unknown names and of tools that a skill requires. */
export async function saveAgentTools(ctx: Ctx, slug: string, changes: ToolChanges): Promise<AgentTools["tools"]> {
  const enabled = new Set(changes.enabled);
  const change = { action: "agent.tool.update", summary: { ...changes } };
  await writeAgent(ctx, slug, change, async (tx, { id, organizationId }) => {
    const settings = await toolSettings(tx, id);
    await requireKnown(tx, organizationId, [...enabled, ...(changes.needsApproval ?? [])], settings);
    requireSkillTools(settings, enabled);
    const approval = approvalSet(changes, enabled, settings);
    await tx.delete(agentTools).where(and(eq(agentTools.agentId, id), eq(agentTools.source, "manual")));
    // What a skill requires is on without a choice, and goes when the skill goes.
    const chosen = [...enabled].filter((name) => !settings.get(name)?.bySkill);
    if (chosen.length > 0) {
      const rows = chosen.map((name) => ({ agentId: id, name, source: "manual", needsApproval: approval.has(name) }));
      await tx.insert(agentTools).values(rows);
    }
    await setApproval(tx, id, approval);
  });
  return listAgentTools(ctx, slug);
}

/** The secrets that the enabled tools need, each once. Throws the 404. */
export async function listRequiredSecrets(ctx: Ctx, slug: string): Promise<RequiredSecrets["requiredSecrets"]> {
  const { id, organizationId } = await findAgent(ctx, slug);
  const settings = await toolSettings(ctx.db, id);
  const stored = await storedKeys(ctx.db, id);
  const required = new Map<string, RequiredSecrets["requiredSecrets"][number]>();
  for (const definition of await listTools(ctx.db, organizationId)) {
    if (!settings.has(definition.name)) continue;
    for (const secret of wireTool(definition).requiredSecrets) {
      const known = required.get(secret.key) ?? { ...secret, tools: [], configured: stored.has(secret.key) };
      known.tools.push(definition.name);
      required.set(secret.key, known);
    }
  }
  return [...required.values()];
}

/** One that is on already may be named though its plugin is gone. */
async function requireKnown(
  tx: Db,
  organizationId: string,
  names: readonly string[],
  settings: ReadonlyMap<string, ToolSetting>,
): Promise<void> {
  const known = new Set((await listTools(tx, organizationId)).map(({ name }) => name));
  const unknown = [...new Set(names)].filter((name) => !known.has(name) && !settings.has(name));
  if (unknown.length > 0) throw new EngineError("bad-request", `Unknown tools: ${unknown.join(", ")}`);
}

function requireSkillTools(settings: ReadonlyMap<string, ToolSetting>, enabled: ReadonlySet<string>): void {
  const missing = [...settings].flatMap(([name, { bySkill }]) => (bySkill && !enabled.has(name) ? [name] : []));
  if (missing.length === 0) return;
  throw new EngineError(
    "bad-request",
    `An enabled skill requires ${missing.join(", ")}: disable the skill first, or leave the tool on`,
  );
}

function approvalSet(
  { needsApproval }: ToolChanges,
  enabled: ReadonlySet<string>,
  settings: ReadonlyMap<string, ToolSetting>,
): Set<string> {
  if (!needsApproval) return new Set([...enabled].filter((name) => settings.get(name)?.needsApproval));
  const off = needsApproval.filter((name) => !enabled.has(name));
  if (off.length > 0) throw new EngineError("bad-request", `needsApproval names tools that are off: ${off.join(", ")}`);
  return new Set(needsApproval);
}

async function setApproval(tx: Db, agentId: string, names: ReadonlySet<string>): Promise<void> {
  const own = eq(agentTools.agentId, agentId);
  await tx.update(agentTools).set({ needsApproval: false }).where(own);
  if (names.size === 0) return;
  await tx
    .update(agentTools)
    .set({ needsApproval: true })
    .where(and(own, inArray(agentTools.name, [...names])));
}

/** Lists of the definition are shared and read only; the wire's are not. */
export function wireTool({ requiredSecrets, ...definition }: ToolDefinition) {
  return {
    ...definition,
    requiredSecrets: requiredSecrets.map(({ choices, ...secret }) => ({
      ...secret,
      ...(choices ? { choices: [...choices] } : {}),
    })),
  };
}
