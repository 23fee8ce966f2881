import { and, desc, eq, inArray, sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { write } from "../../../context/write.ts";
import type { ActingAgent } from "../../../core/activity/activity.ts";
import { channelsThat } from "../../../core/channels/channels.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import { isStorable } from "../../../core/text/text.ts";
import type { Db } from "../../../db/client.ts";
import { actingAgent, agents, conversations, toolCalls, turns } from "../../../db/schema.ts";
import { blockedCall } from "../../../turn/activity.ts";
import { withinReach } from "../../agents/index.ts";

interface Decision {
  approved: boolean;
  reason?: string | undefined;
}

interface ToolCall {
  id: string;
  turnId: string;
  name: string;
  agent: ActingAgent;
  /** Whether the call's turn may be continued now. */
  mayContinue: boolean;
  status: string;
  overdue: boolean;
}

/**
 * Stores a person's decision about a waiting call; returns its turn. Throws 404 for a missing or unreachable call, and
 * 409 for one that is already decided or expired.
 */
export async function decide(
  ctx: Ctx,
  { ref, toolCallId }: { ref: string; toolCallId: string },
  { approved, reason }: Decision,
): Promise<string> {
  const { db, actor } = ctx;
  const call = await findCall(ctx, db, ref, toolCallId);
  if (!call.mayContinue) throw new EngineError("conflict", "The agent is switched off: turn it on to decide");
  const action = approved ? "approval.approve" : "approval.refuse";
  const { agent } = call;
  const change = { action, target: agent.slug, agentId: agent.id, agentUnchanged: true };
  await write(ctx, { ...change, summary: { conversationId: ref, tool: call.name, toolCallId } }, async (tx) => {
    const decided = await tx
      .update(toolCalls)
      .set({ status: approved ? "approved" : "refused", reason: reason ?? null, decidedBy: actor.id })
      .where(and(eq(toolCalls.id, call.id), eq(toolCalls.status, "pending"), sql`${toolCalls.expiresAt} > now()`))
      .returning({ id: toolCalls.id });
    if (decided.length === 0) throw settled(await findCall(ctx, tx, ref, toolCallId));
  });
  if (!approved) ctx.activity.emit({ ...blockedCall(call.name, "refused"), agent, conversationId: ref });
  return call.turnId;
}

/** The newest call with this id, since some models give every call the same id. */
async function findCall(ctx: Ctx, db: Db, ref: string, toolCallId: string): Promise<ToolCall> {
  if (!isStorable(ref) || !isStorable(toolCallId)) throw notFound("Approval");
  const [call] = await db
    .select({
      id: toolCalls.id,
      turnId: toolCalls.turnId,
      name: toolCalls.name,
      status: toolCalls.status,
      agent: actingAgent,
      mayContinue: sql<boolean>`(${agents.active} or ${inArray(conversations.channel, channelsThat("whileInactive"))})`,
      overdue: sql<boolean>`${toolCalls.expiresAt} <= now()`,
    })
    .from(toolCalls)
    .innerJoin(turns, eq(turns.id, toolCalls.turnId))
    .innerJoin(conversations, eq(conversations.id, turns.conversationId))
    .innerJoin(agents, eq(agents.id, toolCalls.agentId))
    .where(
      and(
        eq(conversations.ref, ref),
        eq(toolCalls.toolCallId, toolCallId),
        sql`${toolCalls.args} is not null`,
        withinReach(ctx),
      ),
    )
    .orderBy(desc(toolCalls.createdAt), desc(toolCalls.id))
    .limit(1);
  if (!call) throw notFound("Approval");
  return call;
}

function settled({ status, overdue }: ToolCall): EngineError {
  if (status === "approved") return new EngineError("conflict", "This call is approved already");
  if (status === "refused") return new EngineError("conflict", "This call is refused already");
  if (status === "expired" || overdue) return new EngineError("conflict", "The time to decide about this call is over");
  return new EngineError("conflict", "This call is being decided about: ask again");
}
