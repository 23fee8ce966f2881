import { sql } from "drizzle-orm";
import type { Services } from "../../../context.ts";
import { TtlCache } from "../../../core/cache.ts";
import { EngineError } from "../../../core/errors.ts";
import { jobs } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { lane, waits } from "../../../jobs/claim-statement.ts";
import { converseKind } from "../converse/work.ts";
import { matchKind } from "./store.ts";

/**
 * So many events of an agent, and of an organization's agents together, may wait for the matcher or for their turns. Of an
 * agent also no more than its organization has left: so each further flood gets half of the rest, and none takes all of it
 * from agents that are quiet.
 */
const [mostOfAgent, mostOfOrganization] = [5_000, 20_000];

/** How long a count is good, in milliseconds: what this process lets in is added to it, what others let in is not. */
const countedMs = 60_000;

/** A count that is older is made anew before it refuses an event: others are done meanwhile. */
const refusingMs = 5_000;

/** How often the log tells that an agent's events are refused, in milliseconds. */
const toldEveryMs = 60_000;

/** The refusal of an event since too many wait already; nothing of it is stored. */
export class TooManyWait extends EngineError {
  constructor() {
    const message = "Too many events wait to be handled: send it again later";
    super("unavailable", message, { headers: { "Retry-After": "60" } });
  }
}

/** Call it before an event is stored that is to be matched, and outside of a transaction. Throws `TooManyWait`. */
export type LetIn = (agent: { id: string; slug: string; organizationId: string }) => Promise<void>;

/** The events of an organization that wait: of all its agents, and by agent. */
interface Waiting {
  all: number;
  byAgent: Map<string | null, number>;
}

export function createLetIn({ database, clock, log }: Pick<Services, "database" | "clock" | "log">): LetIn {
  const now = () => clock.now();
  const counts = new TtlCache<Promise<Waiting>>({ ttlMs: countedMs, limit: 1_000, now });
  const told = new TtlCache<true>({ ttlMs: toldEveryMs, limit: 1_000, now });
  /** All who ask meanwhile share one count. */
  const counted = (organizationId: string, ms: number) => {
    const last = counts.get(organizationId);
    if (last && now() - last.loadedAt < ms) return last.value;
    const waiting = countStatement.run(database, { organizationId }).then(added);
    waiting.catch(() => counts.delete(organizationId));
    return counts.set(organizationId, waiting).value;
  };
  return async ({ id, slug, organizationId }) => {
    let waiting = await counted(organizationId, countedMs);
    if (isFull(waiting, id)) waiting = await counted(organizationId, refusingMs);
    if (isFull(waiting, id)) {
      if (!told.get(id)) {
        told.set(id, true);
        log.warn({ agent: slug }, "Events are refused: too many wait to be handled");
      }
      throw new TooManyWait();
    }
    waiting.all += 1;
    waiting.byAgent.set(id, ofAgent(waiting, id) + 1);
  };
}

const ofAgent = ({ byAgent }: Waiting, id: string) => byAgent.get(id) ?? 0;

const isFull = (waiting: Waiting, id: string) =>
  ofAgent(waiting, id) >= Math.min(mostOfAgent, mostOfOrganization - waiting.all);

interface Counted {
  /** Null: a release before this one stored them. */
  agentId: string | null;
  count: number;
}

const added = (rows: readonly Counted[]): Waiting => ({
  all: rows.reduce((sum, { count }) => sum + count, 0),
  byAgent: new Map(rows.map(({ agentId, count }) => [agentId, count])),
});

/** Walks the lane of the organization, and no further than what it may have. */
const countStatement = statement({ organizationId: "uuid" }, ({ organizationId }) => {
  const ofKind = (kind: string) => sql`(
    select ${jobs.payload} ->> 'agentId' as agent from ${jobs}
    where ${jobs.kind} = ${kind} and ${lane} = ${organizationId} and ${waits}
    order by ${jobs.runAt}, ${jobs.id} limit ${mostOfOrganization})`;
  return sql<Counted>`
    select agent as "agentId", count(*)::int as count
    from (${ofKind(matchKind)} union all ${ofKind(converseKind)}) as waiting group by agent`;
});
