import { and, eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { notFound } from "../../../core/errors.ts";
import type { Binding } from "../../../core/models/facts.ts";
import { providerRoles, type ProviderRole as Role } from "../../../core/models/roles.ts";
import type { Db } from "../../../db/client.ts";
import { providerBindings } from "../../../db/schema.ts";
import { writeAgent } from "../../agents/index.ts";
import { lockOrganization } from "../../organizations/index.ts";
import { readAgentFacts, requireFacts } from "../facts.ts";
import { requireOptions, toRole } from "./rules.ts";
import type { NewBinding, ProviderRole } from "./schema.ts";

/** The roles of an agent, each with the model that answers. Throws the agent's 404. */
export async function listRoles(ctx: Ctx, slug: string): Promise<ProviderRole[]> {
  const facts = await readAgentFacts(ctx, slug);
  return providerRoles.map((role) => toRole(role, facts));
}

/**
 * Binds a role of an agent to connections, or unbinds it. Throws 404 for the agent, the role and a connection, and the
 * 400s of `requireOptions`.
 */
export async function bindRole(ctx: Ctx, slug: string, name: string, input: NewBinding): Promise<ProviderRole> {
  const role = providerRoles.find((one) => one === name);
  const { connectionId, model, fallbacks } = input;
  const binding = connectionId === null ? undefined : { connectionId, model, fallbacks };
  const changes: Changes = {};
  // Before the agent's lock: connections neither change nor go until the binding is stored.
  const lock = (tx: Db) => lockOrganization(tx, ctx.membership.organizationId);
  const change = { action: "provider-role.update", changes, lock };
  return writeAgent(ctx, slug, change, async (tx, { id }) => {
    if (!role) throw notFound("Role");
    const facts = await requireFacts(ctx, tx, id);
    if (binding) requireOptions(role, facts, binding);
    Object.assign(changes, changesBetween({ [role]: plain(facts.bindings[role]) }, { [role]: plain(binding) }));
    if (Object.keys(changes).length > 0) await store(tx, ctx, { agentId: id, role }, binding);
    return toRole(role, { ...facts, bindings: { ...facts.bindings, [role]: binding } });
  });
}

/** The stored fields of a binding alone, for the audit log; null for none. */
const plain = (binding: Binding | undefined) =>
  binding ? { connectionId: binding.connectionId, model: binding.model, fallbacks: binding.fallbacks } : null;

async function store(
  tx: Db,
  ctx: Ctx,
  { agentId, role }: { agentId: string; role: Role },
  binding: (Omit<NewBinding, "connectionId"> & { connectionId: string }) | undefined,
): Promise<void> {
  if (!binding) {
    const isRole = and(eq(providerBindings.agentId, agentId), eq(providerBindings.role, role));
    await tx.delete(providerBindings).where(isRole);
    return;
  }
  const author = authorOf(ctx);
  await tx
    .insert(providerBindings)
    .values({ agentId, role, ...binding, createdBy: author, updatedBy: author })
    .onConflictDoUpdate({
      target: [providerBindings.agentId, providerBindings.role],
      set: { ...binding, updatedBy: author, updatedAt: sql`now()` },
    });
}
