import type { Ctx } from "../../context/ctx.ts";
import type { Db } from "../../db/client.ts";
import { type AgentRow, exportAgent, writeAgent } from "../agents/index.ts";
import { exportChannels } from "../channels/index.ts";
import { exportHooks } from "../hooks/index.ts";
import { exportPrompts } from "../prompts/index.ts";
import { exportRoom, exportSources } from "../room/index.ts";
import { storedKeys } from "../secrets/index.ts";
import { exportSkillEnv, exportSkills } from "../skills/index.ts";
import { exportTasks } from "../tasks/index.ts";
import { exportTools } from "../tools/index.ts";
import { type Bundle, type BundledInstance, writtenVersion } from "./schema.ts";

/** The agent as a bundle, from one moment: changes wait until it is read. Throws the 404. */
export async function exportBundle(ctx: Ctx, slug: string): Promise<Bundle> {
  const change = { action: "agent.export", agentUnchanged: true };
  const instance = await writeAgent(ctx, slug, change, (tx, agent) => describeAgent(tx, ctx, agent));
  return { version: writtenVersion, exportedAt: new Date(ctx.clock.now()).toISOString(), type: "instance", instance };
}

/** The configuration of an agent, in a stable order, without any secret's value. */
export async function describeAgent(db: Db, { cipher }: Ctx, agent: AgentRow): Promise<BundledInstance> {
  const { id } = agent;
  return {
    ...(await exportAgent(db, agent)),
    prompts: await exportPrompts(db, id),
    skills: await exportSkills(db, id),
    ...(await exportTools(db, id)),
    secrets: [...(await storedKeys(db, id))].sort().map((key) => ({ key, configured: true })),
    channels: await exportChannels(db, cipher, id),
    skillEnv: await exportSkillEnv(db, cipher, agent),
    hooks: await exportHooks(db, id),
    room: await exportRoom(db, id),
    eventSources: await exportSources(db, id),
    scheduledTasks: await exportTasks(db, id),
  };
}
