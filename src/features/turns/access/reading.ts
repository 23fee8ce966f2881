import type { Ctx } from "../../../context/ctx.ts";
import { type Membership, requirePermission } from "../../../context/membership.ts";
import { membershipNow } from "../../../context/standing.ts";
import type { Permission } from "../../../core/credentials/permissions.ts";
import { sameReach } from "../../../core/credentials/rights.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import type { AccessState } from "./state.ts";

/** An open stream of data that a caller of the management API may read. */
export interface WatchedStream {
  ctx: Ctx;
  permission: Permission;
  /** The agent of the stream; null for all reachable agents. */
  agentId: string | null;
  /** The stored conversation of the stream; null for all. */
  conversationId: string | null;
  /** Called at most once, when the caller may no longer read the stream. */
  revoke(refusal: EngineError): void;
}

/**
 * Why the caller may no longer read the stream; null while it may. A stream of all agents ends with any change of the
 * caller's workspaces: the client opens a new one, which shows the agents of the new workspaces.
 */
export function refusalOf(
  { ctx, permission, agentId, conversationId }: WatchedStream,
  state: AccessState,
): EngineError | null {
  try {
    const membership = membershipNow(ctx, state.standingOf(ctx));
    requirePermission(membership, permission);
    if (agentId !== null && !reaches(membership, state.workspaces.get(agentId))) return notFound("Agent");
    if (conversationId !== null && !state.conversations.has(conversationId)) return notFound("Conversation");
    if (agentId !== null || sameReach(membership, ctx.membership)) return null;
    return new EngineError("forbidden", "Your rights changed");
  } catch (refusal) {
    if (refusal instanceof EngineError) return refusal;
    throw refusal;
  }
}

function reaches({ workspaceIds }: Membership, workspaceId: string | undefined): boolean {
  return workspaceId !== undefined && (workspaceIds === null || workspaceIds.includes(workspaceId));
}
