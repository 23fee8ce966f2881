import { sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { type AgentBacklog, type BacklogBound, createBacklogBound } from "../../../core/limits/backlog-bound.ts";
import { agents, inbox } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";

/** Limits the unanswered messages: anybody can write to a bot, from any number of chats. */
export function boundMessages({ database, clock, log }: Pick<Services, "database" | "clock" | "log">): BacklogBound {
  return createBacklogBound({
    clock,
    message: "Too many messages wait to be answered: send it again later",
    count: (organizationId) => countStatement.run(database, { organizationId }),
    onRefused: ({ slug }) => log.warn({ agent: slug }, "Messages are refused: too many wait to be answered"),
  });
}

/**
 * Uses the index of unanswered messages first and filters by owner then, since an agent has many more answered
 * messages.
 */
const countStatement = statement(
  { organizationId: "uuid" },
  ({ organizationId }) => sql<AgentBacklog>`
    with waiting as materialized (
      select ${inbox.agentId} as agent, count(*)::int as count from ${inbox}
      where ${inbox.status} = 'pending' group by ${inbox.agentId}
    )
    select agent as "agentId", count from waiting
    join ${agents} on ${agents.id} = waiting.agent where ${agents.organizationId} = ${organizationId}`,
);
