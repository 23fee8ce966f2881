import { eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { admittedModels, problemOfConnection } from "../../../core/models/facts.ts";
import { modelsFor } from "../../../core/models/options.ts";
import { connectionProviders } from "../../../core/models/providers.ts";
import type { Db } from "../../../db/client.ts";
import { agents, workspaceProviders } from "../../../db/schema.ts";
import { lockAgents, touchAgents } from "../../agents/index.ts";
import { findWorkspace, writeOrganization } from "../../organizations/index.ts";
import { readAdmission, readAgentFacts } from "../facts.ts";
import type { Admitted, AgentProviders, NewAdmission } from "./schema.ts";

/** The providers that a workspace admits. Throws its 404. */
export async function getAdmission(ctx: Ctx, workspaceId: string): Promise<Admitted> {
  const { id } = await findWorkspace(ctx.db, ctx, workspaceId);
  return toWire(await readAdmission(ctx.db, id));
}

const toWire = ({ admitted, privateConnections }: Awaited<ReturnType<typeof readAdmission>>): Admitted => ({
  admitted: admitted?.map(({ provider, models }) => ({ provider, models: models && [...models] })) ?? null,
  privateConnections,
});

/** Replaces the providers that a workspace admits, in force with its agents' next turns. Throws its 404. */
export async function setAdmission(ctx: Ctx, workspaceId: string, input: NewAdmission): Promise<Admitted> {
  const { name } = await findWorkspace(ctx.db, ctx, workspaceId);
  const changes: Changes = {};
  const change = { action: "workspace-providers.update", target: name, summary: { workspaceId }, changes };
  await writeOrganization(ctx, change, async (tx) => {
    const { id } = await findWorkspace(tx, ctx, workspaceId);
    Object.assign(changes, changesBetween(await readAdmission(tx, id), input));
    if (Object.keys(changes).length > 0) await store(tx, ctx, id, input);
  });
  return input;
}

async function store(tx: Db, ctx: Ctx, workspaceId: string, input: NewAdmission): Promise<void> {
  const columns = { ...input, updatedBy: authorOf(ctx) };
  await tx
    .insert(workspaceProviders)
    .values({ workspaceId, ...columns })
    .onConflictDoUpdate({ target: workspaceProviders.workspaceId, set: { ...columns, updatedAt: sql`now()` } });
  await touchAgents(tx, await lockAgents(tx, eq(agents.workspaceId, workspaceId)));
}

/** The providers, models and connections that an agent may use. Throws the agent's 404. */
export async function listProviders(ctx: Ctx, slug: string): Promise<AgentProviders> {
  const { admission, connections } = await readAgentFacts(ctx, slug);
  const allowed = connections.filter(({ shared }) => shared || admission.privateConnections);
  const providers = connectionProviders
    .filter((provider) => admittedModels(provider, admission)?.length !== 0)
    .map((provider) => ({
      provider,
      models: [...(admittedModels(provider, admission) ?? modelsFor("chat", provider, admission))],
      connections: allowed
        .filter((one) => one.provider === provider)
        .map((one) => {
          const { id, name, shared } = one;
          return { id, name, shared, usable: problemOfConnection(one, admission) === null };
        }),
    }));
  return { providers, privateConnections: admission.privateConnections };
}
