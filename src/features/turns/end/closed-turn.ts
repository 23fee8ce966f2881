import { type SQL, sql } from "drizzle-orm";
import { assign, column } from "../../../db/fragments.ts";
import { isOpen, turns } from "../../../db/schema.ts";
import type { Values } from "../../../db/statement.ts";

/** The values of RECORD that the turn's own row stores. */
export const closedTypes = {
  turnId: "uuid",
  owner: "uuid",
  status: "text",
  provider: "text | null",
  model: "text | null",
  promptTokens: "int",
  completionTokens: "int",
  costMicros: "bigint | null",
  ttftMs: "int | null",
  durationMs: "int",
  errorCode: "text | null",
  suspended: "jsonb | null",
  debug: "jsonb | null",
  messageCount: "int",
} as const;

/** Closes the turn if it is open and belongs to this process. */
export function closedTurn(
  { turnId, owner, status, debug, provider, model, ...values }: Values<typeof closedTypes>,
  condition = sql`true`,
): SQL {
  const { id, budgetMonth, createdAt } = turns;
  const { promptTokens, completionTokens, costMicros, messageCount } = values;
  const { ttftMs, durationMs, errorCode, suspended } = values;
  const closed = {
    status,
    // The last model that answered, which may be another one than at the beginning.
    provider: sql`coalesce(${provider}, ${turns.provider})`,
    model: sql`coalesce(${model}, ${turns.model})`,
    promptTokens,
    completionTokens,
    costMicros,
    messageCount,
    ttftMs,
    durationMs,
    errorCode,
    suspended,
    finishedAt: sql`now()`,
    // A failed turn leaves its key to the client's next attempt.
    idempotencyKey: sql`case when ${status} in ('done', 'approval') then ${turns.idempotencyKey} end`,
    // The debug data of a deleted conversation is not stored.
    debug: sql`case when ${turns.conversationId} is not null then ${debug} end`,
  };
  // Also charges a turn that began before the budget existed.
  const month = sql`coalesce(${budgetMonth}, date_trunc('month', ${createdAt} at time zone 'UTC')::date)`;
  return sql`
    update ${turns} set ${assign(turns, closed)}
    where ${id} = ${turnId} and ${turns.owner} = ${owner} and ${isOpen(turns)} and ${condition}
    returning ${id}, ${turns.conversationId}, ${turns.agentId}, ${turns.organizationId}, ${turns.subject},
      ${turns.continues}, ${turns.reserved}, ${turns.userReserved}, ${turns.costReserved}, ${turns.userCostReserved},
      ${month} as ${column(budgetMonth)}`;
}
