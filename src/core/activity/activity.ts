/** The kinds of activity (spec "Activity bus" 2). */
export const activityKinds = [
  "inbound",
  "outbound",
  "memory",
  "cron",
  "webhook",
  "agent-handoff",
  "conversation",
  "governance",
  "tool-start",
  "tool-end",
  "thinking",
  "reply",
] as const;

export type ActivityKind = (typeof activityKinds)[number];

/** The fields of an agent that decide who may see its activity. */
export type OwningAgent = Pick<ActingAgent, "id" | "organizationId" | "workspaceId">;

/** The agent of an activity. Its organization and workspace decide who may see the activity; they are not shown. */
export interface ActingAgent {
  id: string;
  slug: string;
  name: string;
  organizationId: string;
  workspaceId: string;
  /** The version in its icon's address; null without an icon. */
  iconVersion: string | null;
}

/** Reduces an agent to its `OwningAgent` fields. */
export const ownerOf = ({ id, organizationId, workspaceId }: OwningAgent): OwningAgent => ({
  id,
  organizationId,
  workspaceId,
});

/** Reduces an agent to its `ActingAgent` fields. */
export function asActing({ id, slug, name, organizationId, workspaceId, iconVersion }: ActingAgent): ActingAgent {
  return { id, slug, name, organizationId, workspaceId, iconVersion };
}

/** One activity, as its producer reports it. Its texts contain no secret; previews have at most 500 characters. */
export interface Activity {
  /** The id. The start and the end of the same thing share it, with the suffixes `:start` and `:end`. Absent: a new id. */
  id?: string;
  kind: ActivityKind;
  /** A sentence for people. */
  text: string;
  agent: ActingAgent;
  /** The public id of the conversation; null for none. */
  conversationId: string | null;
  tool?: string;
  status?: "ok" | "failed" | "blocked" | "running";
  argsPreview?: string;
  resultPreview?: string;
  responsePreview?: string;
  durationMs?: number;
  channel?: string;
  webhook?: { source: string; phase: "received" | "matched"; definition?: string };
  cron?: { taskId: string; name: string };
  memory?: { event: "ADD" | "UPDATE"; content: string };
  conversation?: { event: string };
  handoff?: { agent: string; phase: "start" | "end" };
}

/** An activity with its conversation, if it has one. */
export interface ConversationActivity {
  conversation?: { event: string } | undefined;
}

/** Whether the activity begins a conversation. */
export const tellsBegin = ({ conversation }: ConversationActivity): boolean => conversation?.event === "started";

/** A conversation, by its public id. */
export interface ActingConversation {
  agentId: string;
  ref: string;
}

/** A conversation, or with null all of an agent. */
export type ForgottenConversation = Omit<ActingConversation, "ref"> & { ref: string | null };

/** A stored row of a conversation, reported so that viewers can read the conversation again. */
export type StoredRowNotice = {
  agent: OwningAgent;
  /** The public id of the conversation. */
  conversationId: string;
} & ({ messageId: string } | { hookExecutionId: string });
