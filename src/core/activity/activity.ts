/** The kinds of what happens (spec "Activity bus" 2). */
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

/** An agent, as far as it decides who may see what it does. */
export type OwningAgent = Pick<ActingAgent, "id" | "organizationId" | "workspaceId">;

/** The agent that an activity is of. Organization and workspace say who may see it, and are not shown. */
export interface ActingAgent {
  id: string;
  slug: string;
  name: string;
  organizationId: string;
  workspaceId: string;
  /** By which its icon is addressed; null for none. */
  iconVersion: string | null;
}

/** A row of an agent without what does not decide about that. */
export const ownerOf = ({ id, organizationId, workspaceId }: OwningAgent): OwningAgent => ({
  id,
  organizationId,
  workspaceId,
});

/** A row of an agent as activity keeps it: without the rest of the row. */
export function asActing({ id, slug, name, organizationId, workspaceId, iconVersion }: ActingAgent): ActingAgent {
  return { id, slug, name, organizationId, workspaceId, iconVersion };
}

/** One thing that happened, as its producer tells it. No text in it holds a secret; previews have at most 500 characters. */
export interface Activity {
  /** Starts and ends of one thing share an id but for the suffixes `:start` and `:end`. Absent: an id of its own. */
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

/** An activity that may be about a conversation. */
export interface Happened {
  conversation?: { event: string } | undefined;
}

/** Whether the activity is the beginning of a conversation. */
export const tellsBegin = ({ conversation }: Happened): boolean => conversation?.event === "started";

/** A conversation, by its public id. */
export interface ActingConversation {
  agentId: string;
  ref: string;
}

/** A row of a conversation that was stored, so that whoever shows the conversation can read it again. */
export type Persisted = {
  agent: OwningAgent;
  /** The public id of the conversation. */
  conversationId: string;
} & ({ messageId: string } | { hookExecutionId: string });
