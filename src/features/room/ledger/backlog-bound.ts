import { sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import {
  type AgentBacklog,
  type BacklogBound,
  createBacklogBound,
  mostOfOrganization,
} from "../../../core/limits/backlog-bound.ts";
import { jobs } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { lane, waits } from "../../../jobs/claim-statement.ts";
import { converseJob, matchJob } from "./store.ts";

/** Limits the events that wait for the matcher or their turns. Call it before storing an event to match. */
export function boundEvents({ database, clock, log }: Pick<Services, "database" | "clock" | "log">): BacklogBound {
  return createBacklogBound({
    clock,
    message: "Too many events wait to be handled: send it again later",
    count: (organizationId) => countStatement.run(database, { organizationId }),
    onRefused: ({ slug }) => log.warn({ agent: slug }, "Events are refused: too many wait to be handled"),
  });
}

/** Reads the organization's lane of jobs, up to its limit. */
const countStatement = statement({ organizationId: "uuid" }, ({ organizationId }) => {
  const ofKind = ({ kind }: { kind: string }) => sql`(
    select ${jobs.payload} ->> 'agentId' as agent from ${jobs}
    where ${jobs.kind} = ${kind} and ${lane} = ${organizationId} and ${waits}
    order by ${jobs.runAt}, ${jobs.id} limit ${mostOfOrganization})`;
  return sql<AgentBacklog>`
    select agent as "agentId", count(*)::int as count
    from (${ofKind(matchJob)} union all ${ofKind(converseJob)}) as waiting group by agent`;
});
