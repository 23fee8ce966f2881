import { eq } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { agents } from "../../../db/schema.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { findAgent } from "../../agents/index.ts";
import { isHeld } from "../../conversations/index.ts";
import { writeOrganization } from "../../organizations/index.ts";
import { digestOf, erasureJob, maxAttempts, sealPerson } from "./job.ts";
import type { NewErasure } from "./schema.ts";

/**
 * Begins the erasure of a person and returns its id. Throws the 404 of the agent, and the 409 of a conversation under
 * legal hold.
 */
export async function createErasure(
  ctx: Ctx,
  { subject, subjectChannel: channel, instanceId }: NewErasure,
): Promise<{ id: string }> {
  const { organizationId, organizationSlug } = ctx.membership;
  const { id: agentId, slug } = agents;
  const reached =
    instanceId === undefined
      ? await ctx.db.select({ id: agentId, slug }).from(agents).where(eq(agents.organizationId, organizationId))
      : [await findAgent(ctx, instanceId)];
  if (await isHeld(ctx.db, { channel, id: subject, agents: reached })) {
    throw new EngineError("conflict", "A conversation of this person is under legal hold");
  }
  const id = newId();
  const digest = await digestOf(ctx.cipher, { organizationId, channel, id: subject });
  const keys = await sealPerson(ctx.cipher, id, { channel, id: subject });
  const only = instanceId === undefined ? {} : { agentId: reached[0]?.id };
  const summary = { erasureId: id, subject: digest, ...(instanceId === undefined ? {} : { instanceId }) };
  await writeOrganization(ctx, { action: "erasure.create", target: organizationSlug, summary }, (tx) =>
    enqueue(tx, erasureJob.of({ batch: id, organizationId, ...only, keys }), { organizationId, maxAttempts }),
  );
  return { id };
}
