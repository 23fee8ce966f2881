import { bigint, date, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import type { SubjectKey } from "../../core/channels/subjects.ts";
import { ofAgent } from "./agents.ts";

const period = () => ({
  /** The first day of the month, in UTC. */
  month: date("month").notNull(),
  /** In tokens. */
  used: bigint("used", { mode: "number" }).notNull().default(0),
  /** Tokens that are held for running calls. */
  reserved: bigint("reserved", { mode: "number" }).notNull().default(0),
});

/** The usage of an agent with a budget in a month. */
export const budgetPeriods = pgTable("budget_periods", { agentId: ofAgent(), ...period() }, (table) => [
  primaryKey({ columns: [table.agentId, table.month] }),
]);

/** The same of each end user of an agent whose end users have a budget. */
export const userBudgetPeriods = pgTable(
  "user_budget_periods",
  { agentId: ofAgent(), subject: text("subject").$type<SubjectKey>().notNull(), ...period() },
  (table) => [primaryKey({ columns: [table.agentId, table.subject, table.month] })],
);
