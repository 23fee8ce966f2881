import { TtlCache } from "../cache.ts";
import { EngineError } from "../errors.ts";
import type { Clock } from "../ports.ts";

/**
 * The most waiting items of an agent, and of all agents of an organization. An agent may also have at most as many as
 * its organization has left. So each further flood gets half of what is left, and quiet agents can still add items.
 */
const mostOfAgent = 5_000;
export const mostOfOrganization = 20_000;

/**
 * How long a count is used, in milliseconds. This process adds the items that it accepts meanwhile, but does not see
 * those of other processes.
 */
const countedMs = 60_000;

/** A count older than this is renewed before a refusal, since waiting items may have been handled meanwhile. */
const refusingMs = 5_000;

/** The least time between two calls of `onRefused` for an agent, in milliseconds. */
const reportedEveryMs = 60_000;

/** Refuses an item because too many wait. Nothing of it is stored. */
export class BacklogFull extends EngineError {
  constructor(message: string) {
    super("unavailable", message, { retryAfterSeconds: 60 });
  }
}

interface Owner {
  id: string;
  slug: string;
  organizationId: string;
}

/** Call it before storing `count` items (default 1), outside of a transaction. Throws `BacklogFull`. */
export type BacklogBound = (agent: Owner, count?: number) => Promise<void>;

/** The number of an agent's waiting items. */
export interface AgentBacklog {
  /** Null for items that an earlier release stored. */
  agentId: string | null;
  count: number;
}

interface Options {
  clock: Clock;
  /** The message of the refusal. */
  message: string;
  /** Counts the waiting items of an organization's agents. */
  count(organizationId: string): Promise<readonly AgentBacklog[]>;
  /** Called when something of an agent is refused, once a minute at most. */
  onRefused(agent: Owner): void;
}

/** The waiting items of an organization: of all its agents, and by agent. */
interface WaitingItems {
  all: number;
  byAgent: Map<string | null, number>;
}

/** Limits the waiting items when they arrive faster than they are handled. */
export function createBacklogBound({ clock, message, count, onRefused }: Options): BacklogBound {
  const now = () => clock.now();
  const counts = new TtlCache<Promise<WaitingItems>>({ ttlMs: countedMs, limit: 1_000, now });
  const reported = new TtlCache<true>({ ttlMs: reportedEveryMs, limit: 1_000, now });
  /** Callers at the same time share one count. */
  const counted = (organizationId: string, ms: number) => {
    const last = counts.get(organizationId);
    if (last && now() - last.loadedAt < ms) return last.value;
    const waiting = count(organizationId).then(added);
    waiting.catch(() => counts.delete(organizationId));
    return counts.set(organizationId, waiting).value;
  };
  return async (agent, more = 1) => {
    const { id, organizationId } = agent;
    let waiting = await counted(organizationId, countedMs);
    if (isFull(waiting, id)) waiting = await counted(organizationId, refusingMs);
    if (isFull(waiting, id)) {
      if (!reported.get(id)) {
        reported.set(id, true);
        onRefused(agent);
      }
      throw new BacklogFull(message);
    }
    waiting.all += more;
    waiting.byAgent.set(id, ofAgent(waiting, id) + more);
  };
}

const ofAgent = ({ byAgent }: WaitingItems, id: string) => byAgent.get(id) ?? 0;

const isFull = (waiting: WaitingItems, id: string) =>
  ofAgent(waiting, id) >= Math.min(mostOfAgent, mostOfOrganization - waiting.all);

const added = (rows: readonly AgentBacklog[]): WaitingItems => ({
  all: rows.reduce((sum, { count }) => sum + count, 0),
  byAgent: new Map(rows.map(({ agentId, count }) => [agentId, count])),
});
