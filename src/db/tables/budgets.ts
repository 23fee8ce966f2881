import { bigint, date, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { ofAgent } from "./agents.ts";

/** The tokens that an agent with a budget used in a month, and those that it holds for running calls. */
export const budgetPeriods = pgTable(
  "budget_periods",
  {
    agentId: ofAgent(),
    /** The first day of the month, in UTC. */
    month: date("month").notNull(),
    used: bigint("used", { mode: "number" }).notNull().default(0),
    reserved: bigint("reserved", { mode: "number" }).notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.month] })],
);

/** The same of each end user of an agent whose end users have a budget. */
export const userBudgetPeriods = pgTable(
  "user_budget_periods",
  {
    agentId: ofAgent(),
    subject: text("subject").notNull(),
    month: date("month").notNull(),
    used: bigint("used", { mode: "number" }).notNull().default(0),
    reserved: bigint("reserved", { mode: "number" }).notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.subject, table.month] })],
);
