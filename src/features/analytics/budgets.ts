import { type Column, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { shownSubject } from "../../core/channels/subjects.ts";
import { monthOf } from "../../core/time/calendar.ts";
import type { BoundedReads } from "../../db/bounded-reads.ts";
import { agents, budgetPeriods, userBudgetPeriods } from "../../db/schema.ts";
import { currencyOf } from "../providers/index.ts";
import { type AgentBudget, type Budgets, mostUsers, type UserBudget } from "./schema.ts";
import { readWithin, type Scope } from "./scope.ts";
import { usage } from "./sums.ts";

/** This month's budgets of the reachable agents. Throws the 429 and the 503 of `BoundedReads`. */
export async function readBudgets(ctx: Ctx, reads: BoundedReads): Promise<Budgets> {
  const now = ctx.clock.now();
  const month = monthOf(now);
  return readWithin(ctx, reads, { period: { from: new Date(month), to: new Date(now + 1) } }, async (scope) => ({
    month,
    agents: await readAgents(scope, month, ofTokens),
    users: await readUsers(scope, month, ofTokens),
    costs: {
      currency: await currencyOf(scope.tx, ctx.membership.organizationId),
      agents: await readAgents(scope, month, ofMoney),
      users: await readUsers(scope, month, ofMoney),
    },
  }));
}

/** A kind of budgets. */
interface Kind {
  budget: Column;
  userBudget: Column;
  used: "used" | "costUsed";
  reserved: "reserved" | "costReserved";
  /** What the turns of the month took. */
  spent: SQL;
}

const ofTokens: Kind = {
  budget: agents.monthlyTokenBudget,
  userBudget: agents.userMonthlyTokenBudget,
  used: "used",
  reserved: "reserved",
  spent: sql`sum(prompt_tokens) + sum(completion_tokens)`,
};

const ofMoney: Kind = {
  budget: agents.monthlyCostBudget,
  userBudget: agents.userMonthlyCostBudget,
  used: "costUsed",
  reserved: "costReserved",
  spent: sql`sum(cost_micros)`,
};

const agent = sql`${agents.slug} as "instanceId", ${agents.name} as "instanceName"`;

/**
 * An agent that had no turn since it got its budget has no stored sum yet. So its turns of the month are added up here,
 * as its next turn will do.
 */
const readAgents = ({ tx, tables, rows }: Scope, month: string, { budget, used, reserved, spent }: Kind) =>
  tx.execute<AgentBudget & Record<string, unknown>>(sql`
    with ${tables}, spent as (
      select agent_id, ${spent} as used from (${rows(usage)}) r group by agent_id
    )
    select ${agent}, ${budget}::float8 as budget,
      coalesce(${budgetPeriods[used]}, spent.used, 0)::float8 as used,
      coalesce(${budgetPeriods[reserved]}, 0)::float8 as reserved
    from reached join ${agents} on ${agents.id} = reached.id
    left join ${budgetPeriods} on ${budgetPeriods.agentId} = reached.id and ${budgetPeriods.month} = ${month}::date
    left join spent on spent.agent_id = reached.id
    where ${budget} is not null
    order by coalesce(${budgetPeriods[used]}, spent.used, 0) / greatest(1, ${budget})::float8 desc, ${agents.slug}`);

type UserRow = Omit<UserBudget, "userChannel"> & Record<string, unknown>;

async function readUsers({ tx, tables }: Scope, month: string, kind: Kind): Promise<UserBudget[]> {
  const { userBudget, used, reserved } = kind;
  const rows = await tx.execute<UserRow>(sql`
    with ${tables}
    select ${agent}, ${userBudgetPeriods.subject} as user, ${userBudget}::float8 as budget,
      ${userBudgetPeriods[used]}::float8 as used, ${userBudgetPeriods[reserved]}::float8 as reserved
    from reached join ${agents} on ${agents.id} = reached.id
    join ${userBudgetPeriods} on ${userBudgetPeriods.agentId} = reached.id
      and ${userBudgetPeriods.month} = ${month}::date
    where ${userBudget} is not null
    order by ${userBudgetPeriods[used]} / greatest(1, ${userBudget})::float8 desc,
      ${agents.slug}, ${userBudgetPeriods.subject}
    limit ${mostUsers}`);
  return rows.map(({ user, ...row }) => {
    const { subject, subjectChannel } = shownSubject(user);
    return { ...row, user: subject, userChannel: subjectChannel };
  });
}
