/** Runs one statement without parameters. */
export type Run = (text: string) => Promise<unknown>;

export const agents = 50;
export const days = 90;

/** A statement has a deadline. */
const batch = 20_000;

/**
 * Adds agents, and turns over the days before today, each of which stored two messages: conversations of five turns,
 * a user for four of them, four models, and a call of a tool for every other turn.
 */
export async function seed(run: Run, turns: number): Promise<void> {
  await run(`insert into agents (id, organization_id, workspace_id, slug, name)
    select gen_random_uuid(), w.organization_id, w.id, 'busy-' || n, 'Busy ' || n
    from (select * from workspaces order by created_at limit 1) w, generate_series(1, ${agents}) n`);
  for (let first = 0; first < turns; first += batch) await addTurns(run, turns, first);
  for (const table of ["turns", "tool_calls", "agents"]) await run(`vacuum analyze ${table}`);
}

async function addTurns(run: Run, turns: number, first: number): Promise<void> {
  await run(`with turn as (insert into turns (id, agent_id, organization_id, conversation_id, subject, ticket, status, owner, lease_until,
      door, channel, provider, model, fingerprint, prompt_tokens, completion_tokens, message_count, ttft_ms, duration_ms,
      created_at, finished_at)
    select gen_random_uuid(), agent.id, agent.organization_id, md5('conversation' || n / 5)::uuid, 'user-' || n / 20,
      1 + n % 5, case when n % 50 = 0 then 'failed' else 'done' end, gen_random_uuid(), at, 'api',
      (array['web', 'web', 'web', 'telegram', 'slack'])[1 + n / 5 % 5], 'openai', 'gpt-' || n % 4,
      repeat('0', 64), 1000 + n % 3000, 50 + n % 500, 2, 200 + n % 1500, (800 * exp(random() * 3))::int, at, at
    from generate_series(${first}, ${Math.min(turns, first + batch) - 1}) n
    cross join lateral (
      select date_trunc('day', now()) - interval '${days} days' + n * interval '${days} days' / ${turns} as at
    ) time
    join (select *, row_number() over (order by slug) as number from agents where slug like 'busy-%') agent
      on agent.number = 1 + n / 5 % ${agents}
    order by n returning id, agent_id, ticket, prompt_tokens, created_at)
    insert into tool_calls (id, turn_id, agent_id, tool_call_id, name, status, duration_ms, created_at)
    select gen_random_uuid(), id, agent_id, 'call', 'tool-' || ticket,
      case when prompt_tokens % 20 = 0 then 'failed' else 'executed' end, (20 * exp(random() * 4))::int, created_at
    from turn where prompt_tokens % 2 = 0`);
}
