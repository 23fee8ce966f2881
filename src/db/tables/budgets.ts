import { bigint, date, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import type { SubjectKey } from "../../core/channels/subjects.ts";
import { ofAgent } from "./agents.ts";
import { id, moment } from "./columns.ts";

/** The first day of the month, in UTC. */
const month = () => date("month").notNull();

const period = () => ({
  month: month(),
  /** In tokens. */
  used: bigint("used", { mode: "number" }).notNull().default(0),
  /** Tokens reserved for running model calls. */
  reserved: bigint("reserved", { mode: "number" }).notNull().default(0),
  /** The same in millionths of the currency unit. */
  costUsed: bigint("cost_used", { mode: "number" }).notNull().default(0),
  costReserved: bigint("cost_reserved", { mode: "number" }).notNull().default(0),
});

/** An agent's usage in a month, for agents with a budget. */
export const budgetPeriods = pgTable("budget_periods", { agentId: ofAgent(), ...period() }, (table) => [
  primaryKey({ columns: [table.agentId, table.month] }),
]);

/** An end user's usage in a month, for agents whose end users have a budget. */
export const userBudgetPeriods = pgTable(
  "user_budget_periods",
  { agentId: ofAgent(), subject: text("subject").$type<SubjectKey>().notNull(), ...period() },
  (table) => [primaryKey({ columns: [table.agentId, table.subject, table.month] })],
);

/** The tokens and money that a running background call has reserved in its agent's month. A turn's are in its own row. */
export const budgetHolds = pgTable("budget_holds", {
  id: id(),
  agentId: ofAgent(),
  month: month(),
  tokens: integer("tokens").notNull(),
  /** In millionths of the currency unit. */
  cost: bigint("cost", { mode: "number" }).notNull().default(0),
  /** The process of the call counts as dead after this. */
  leaseUntil: moment("lease_until").notNull(),
});
