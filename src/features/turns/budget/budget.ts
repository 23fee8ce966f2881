import type { Services } from "../../../context.ts";
import { EngineError } from "../../../core/errors.ts";
import type { Database } from "../../../db/client.ts";
import { refusalHeaders } from "../../../http/throttle.ts";

// `monthlyTokenBudget`: tokens are held in `budget_periods` before a model is called, and what the call took is written
// there after it, so that calls which run at the same time can't spend the same tokens. What a turn of a process that
// died took nobody knows: what was held for it counts as used.

/** Tokens to hold, and of which month's budget: its first day in UTC, as a date. */
export interface Reservation {
  month: string;
  tokens: number;
}

/** The month that is charged for a call of this moment. */
export function monthOf(now: number): string {
  return `${new Date(now).toISOString().slice(0, 7)}-01`;
}

/**
 * Holds tokens, as part of a larger statement; answers a row that is `granted` when the budget of the month covers them.
 * `agent` is a table of one row with the agent's `id` and `monthly_token_budget`. A month begins with what its turns took
 * before there was a budget: that is summed up once, even when it leaves nothing.
 */
export function reserveTokens({ agent, month, tokens }: { agent: string; month: string; tokens: string }): string {
  return `
    insert into budget_periods as b (agent_id, month, used, reserved)
    select a.id, ${month}::date, s.used, case when f.fits then ${tokens}::int else 0 end
    from ${agent} a, lateral (
      select coalesce(sum(t.prompt_tokens::bigint + t.completion_tokens), 0) as used from turns t
      where t.agent_id = a.id and t.created_at >= ${month}::date::timestamp at time zone 'UTC'
        and not exists (select 1 from budget_periods p where p.agent_id = a.id and p.month = ${month}::date)
    ) s, lateral (
      select a.monthly_token_budget is null or s.used + ${tokens}::int <= a.monthly_token_budget as fits
    ) f
    where f.fits or s.used > 0
    on conflict (agent_id, month) do update set reserved = b.reserved + ${tokens}::int
      where (select monthly_token_budget from ${agent}) is null
        or b.used + b.reserved + ${tokens}::int <= (select monthly_token_budget from ${agent})
    returning b.reserved > 0 as granted`;
}

/** Settles what the turns of a table (`agent_id`, `budget_month`, `reserved`) held; `used` is what each took. */
export function settleTokens(turns: string, used: string): string {
  return `
    update budget_periods b set used = b.used + d.used, reserved = greatest(0, b.reserved - d.reserved)
    from (select agent_id, budget_month, sum(reserved) as reserved, sum(${used}) as used from ${turns}
      where budget_month is not null group by 1, 2) d
    where b.agent_id = d.agent_id and b.month = d.budget_month
    returning 1`;
}

/**
 * A condition for what follows `settled` in a statement. All that lock a budget and a conversation take them in this
 * order, as OPEN does: otherwise those of one conversation run into deadlocks.
 */
export const onceSettled = "(select count(*) from settled) >= 0";

const reserveOne = `
  with open as (
    -- Locked, since what is held for a turn that is closed meanwhile nobody would settle.
    select id, reserved from turns where id = $4::uuid and status in ('queued', 'running') for no key update
  ), agent as (
    select id, monthly_token_budget from agents
    where id = $1::uuid and ($4::uuid is null or exists (select 1 from open))
  ), held as (
    ${reserveTokens({ agent: "agent", month: "$2", tokens: "($3::int - coalesce((select reserved from open), 0))" })}
  ), turn as (
    update turns set reserved = $3::int where id = $4::uuid and exists (select 1 from held where granted)
  )
  select exists (select 1 from held where granted) as held, (select monthly_token_budget from agent) as budget`;

/** Holds so many tokens for a turn instead of those it has, or for a call of the background (`turnId` null). Throws the 429. */
export async function reserve(
  { database, clock }: Pick<Services, "database" | "clock">,
  { agentId, turnId, month, tokens }: Reservation & { agentId: string; turnId: string | null },
): Promise<void> {
  const [row] = await database.query<{ held: boolean; budget: number | null }>(reserveOne, [
    agentId,
    month,
    tokens,
    turnId,
  ]);
  if (!row?.held) throw budgetSpent(row?.budget ?? 0, clock.now());
}

/** Writes down what a call of the background took. */
export async function settle(
  database: Database,
  { agentId, month, tokens, used }: Reservation & { agentId: string; used: number },
): Promise<void> {
  await database.query(
    `update budget_periods set used = used + $4::int, reserved = greatest(0, reserved - $3::int)
     where agent_id = $1::uuid and month = $2::date`,
    [agentId, month, tokens, used],
  );
}

/** The 429 of an agent that has no tokens left; it has some again with the next month. */
export function budgetSpent(limit: number, now: number): EngineError {
  const date = new Date(now);
  const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  const resetSeconds = Math.max(1, Math.ceil((next - now) / 1000));
  return new EngineError("rate-limited", "The agent's monthly token budget is used up", {
    headers: refusalHeaders({ limit, remaining: 0, resetSeconds }),
  });
}
