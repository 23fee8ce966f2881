import type postgres from "postgres";
import { exchanges } from "./texts.ts";

export interface Amounts {
  agents: number;
  conversations: number;
  /** Messages of each conversation that has very many. */
  long: number;
}

/** Of a database at its full size: 10,000 agents, 2 million conversations and 20 million messages. */
export const amountsOf = (scale: number): Amounts => ({
  agents: Math.max(20, Math.round(10_000 * scale)),
  conversations: Math.max(2_000, Math.round(2_000_000 * scale)),
  long: Math.max(1_000, Math.round(10_000 * scale)),
});

/** The conversations that have very many messages are of the agent `short`; the last part of their refs is a number. */
export const longConversations = 20;
export const longChat = (index: number) => `long-${index % longConversations}`;

export const days = 90;
/** So many conversations in one statement; messages of the same batch lie mixed, as those of the same hour do. */
const batchSize = 5_000;
const texts = 10_000;

/** These tables get their indexes after their rows, as PostgreSQL builds them faster than it adds to them. */
const filledFirst = ["conversations", "turns", "messages", "tool_calls", "memories"];

/**
 * Fills a database that has the engine's schema and the agents of the bench. Conversations are spread over the last 90
 * days and over the agents as words are over texts: the first agent has a twelfth of them, half of the agents one or
 * two each. A conversation has 1 to 9 turns, each with a question and a reply. Needs a superuser's connection, alone.
 */
export async function fill(sql: postgres.Sql, amounts: Amounts, tell: (done: string) => void): Promise<void> {
  const run = (text: string) => sql.unsafe(text);
  await run("set synchronous_commit = off; set maintenance_work_mem = '1GB'; set work_mem = '256MB'");
  // Foreign keys, which the rows fulfil.
  await run("set session_replication_role = replica");
  await prepare(sql, amounts);
  const indexes = await dropIndexes(sql);
  for (let first = 0; first < amounts.conversations; first += batchSize) {
    const last = Math.min(amounts.conversations, first + batchSize) - 1;
    await run(conversationsOf(`generate_series(${first}, ${last})`, amounts));
    if (first % 50_000 === 0) tell(`${first} of ${amounts.conversations} conversations`);
  }
  await run(longOnes(amounts));
  for (const [name, text] of otherRows(amounts)) {
    await run(text);
    tell(name);
  }
  for (const { name, definition } of indexes) {
    await run(definition);
    tell(`index ${name}`);
  }
  await run("vacuum (analyze)");
  tell("vacuum");
  await run("checkpoint");
}

async function prepare(sql: postgres.Sql, { agents }: Amounts): Promise<void> {
  await sql.unsafe(`insert into agents
      (id, organization_id, workspace_id, slug, name, provider, model, fast_model, memory_enabled)
    select gen_random_uuid(), organization_id, workspace_id, 'busy-' || n, 'Busy ' || n, provider, model, fast_model, false
    from agents, generate_series(1, ${agents} - (select count(*) from agents)) n where slug = 'whole'`);
  await sql.unsafe(`create temp table filled_agents as
    select row_number() over (order by slug like 'busy-%', array_position(array['whole', 'next', 'short'], slug), id)::int
      as number, id, organization_id, slug from agents;
    create unique index on filled_agents (number);
    create function pg_temp.id_at(at timestamptz, salt text) returns uuid language sql immutable as
      $$ select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(salt), 1, 3) || '8'
        || substr(md5(salt), 4, 15))::uuid $$;
    create temp table filled_texts (number serial, asked text, asked_words tsvector, said text, said_words tsvector,
      steps jsonb, model_messages jsonb)`);
  const json = JSON.stringify(exchanges(texts));
  await sql`insert into filled_texts (asked, asked_words, said, said_words, steps, model_messages)
    select asked, array_to_tsvector(string_to_array("askedWords", ' ')), said,
      array_to_tsvector(string_to_array("saidWords", ' ')),
      jsonb_build_array(jsonb_build_object('index', 0, 'stepType', 'initial', 'text', said, 'toolCalls', '[]'::jsonb,
        'toolResults', '[]'::jsonb, 'reasoning', null, 'finishReason', 'stop', 'durationMs', 900)),
      jsonb_build_array(jsonb_build_object('role', 'assistant', 'content',
        jsonb_build_array(jsonb_build_object('type', 'text', 'text', said))))
    from jsonb_to_recordset(${json}::text::jsonb)
      as exchange(asked text, "askedWords" text, said text, "saidWords" text)`;
  await sql.unsafe("create unique index on filled_texts (number); analyze filled_texts; analyze filled_agents");
}

async function dropIndexes(sql: postgres.Sql): Promise<{ name: string; definition: string }[]> {
  const found = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition from pg_indexes
    where schemaname = 'public' and tablename = any(${filledFirst})
      and indexname not in (select conname from pg_constraint)`;
  for (const { name } of found) await sql.unsafe(`drop index ${name}`);
  return [...found];
}

/** The conversations with these numbers, with all that their turns left. */
const conversationsOf = (numbers: string, { agents, conversations }: Amounts) =>
  rowsOf(`select n, agent.*, at, (1 + n % 9)::int as turns, channel,
      case channel when 'web' then 'api-chat-' || n else '4' || n end as channel_id
    from ${numbers} n
    cross join lateral (select date_trunc('minute', now()) - interval '${days} days'
      + (n + 1) * interval '${days - 1} days' / ${conversations} as at,
      (array['web', 'web', 'web', 'telegram', 'web', 'slack', 'web', 'whatsapp'])[1 + n % 8] as channel,
      power(${agents}::float8, (n * 0.6180339887 % 1)::float8)::int as number) c
    join filled_agents agent using (number)`);

const longOnes = ({ long }: Amounts) =>
  rowsOf(`select 1000000000 + n as n, agent.*, now() - interval '${days} days' as at, ${long / 2} as turns,
      'web' as channel, 'api-long-' || n as channel_id
    from generate_series(0, ${longConversations - 1}) n join filled_agents agent on agent.slug = 'short'`);

/** `selected`: n, the agent, the time of the first turn, the number of turns, channel and channel_id. */
const rowsOf = (selected: string) =>
  `
  with selected as (${selected}), c as materialized (
    select *, slug || ':' || channel || ':' || channel_id as ref, pg_temp.id_at(at, 'c' || n) as conversation_id,
      case when n % 3 = 0 then 'conversation:' || slug || ':' || channel || ':' || channel_id
        else channel || ':user-' || n / 7 end as subject,
      least(interval '2 minutes', (now() - at) / (turns + 1)) as gap
    from selected
  ), placed as (
    insert into conversations (id, agent_id, organization_id, ref, channel, channel_id, subject, title, summary,
      last_ticket, last_seq, message_count, total_tokens, context_tokens, bytes_per_token, created_at, updated_at)
    select conversation_id, id, organization_id, ref, channel, channel_id, subject, 'About order ' || n,
      case when turns > 3 then 'The person asks about order ' || n || ', and the agent looks it up.' end,
      turns, 2 * turns, 2 * turns, 900 * turns, 800, 4, at, at + turns * gap from c
  ), t as materialized (
    select c.*, ticket, at + ticket * gap as turned_at, pg_temp.id_at(at + ticket * gap, 't' || n || '.' || ticket) as turn_id
    from c cross join lateral generate_series(1, c.turns) ticket order by ticket, n
  ), turned as (
    insert into turns (id, agent_id, organization_id, conversation_id, subject, ticket, status, owner, lease_until, door,
      channel, provider, model, fingerprint, prompt_tokens, completion_tokens, message_count, ttft_ms, duration_ms,
      created_at, finished_at)
    select turn_id, id, organization_id, conversation_id, subject, ticket, 'done', id, turned_at, 'api', channel,
      'openai-compatible', (array['whole', 'next'])[1 + n % 2], repeat('0', 64), 600 + n % 900, 40 + n % 200, 2,
      200 + n % 1500, 500 + n % 9000, turned_at, turned_at + interval '3 seconds' from t
  ), called as (
    insert into tool_calls (id, turn_id, agent_id, tool_call_id, name, status, duration_ms, created_at)
    select pg_temp.id_at(turned_at, 'k' || turn_id), turn_id, id, 'call-1', 'tool-' || n % 12,
      case when n % 40 = 0 then 'failed' else 'executed' end, 20 + n % 4000, turned_at
    from t where (n + ticket) % 3 = 0
  ), received as (
    insert into inbox (id, agent_id, channel, provider_id, conversation_id, seq, sender, payload, status, attempts, turn_id,
      created_at)
    select pg_temp.id_at(turned_at, 'i' || turn_id), id, channel, turn_id, conversation_id, ticket, subject,
      jsonb_build_object('text', 'Where is order ' || n || '?'), 'done', 1, turn_id, turned_at
    from t where channel <> 'web' and turned_at > now() - interval '33 days'
  ), sent as (
    insert into outbox (id, agent_id, conversation_id, channel, target, turn_id, body, status, attempts, sent_at, created_at)
    select pg_temp.id_at(turned_at, 'o' || turn_id), id, conversation_id, channel, channel_id, turn_id,
      'Order ' || n || ' is on its way.', 'sent', 1, turned_at, turned_at
    from t where channel <> 'web' and turned_at > now() - interval '33 days'
  )
  insert into messages (id, conversation_id, turn_id, seq, role, content, search, steps, model_messages,
    prompt_tokens, completion_tokens, created_at)
  select case when answers then turn_id else pg_temp.id_at(turned_at, 'q' || turn_id) end, conversation_id, turn_id,
    2 * ticket - 1 + answers::int, case when answers then 'assistant' else 'user' end,
    case when answers then said when ticket = 1 then asked || ' Order ' || n else asked end,
    case when answers then said_words when ticket = 1 then asked_words || array_to_tsvector(array[n::text, 'order'])
      else asked_words end,
    case when answers then steps else '[]'::jsonb end, case when answers then model_messages end,
    case when answers then 600 + n % 900 else 0 end, case when answers then 40 + n % 200 else 0 end, turned_at
  from t cross join (values (false), (true)) part(answers)
  join filled_texts on number_of_text(n, ticket) = filled_texts.number`.replace(
    "number_of_text(n, ticket)",
    `1 + ((n::bigint * 7919 + ticket * 104729) % ${texts})::int`,
  );

/** The other tables with their rows as statements, in the proportions of such an installation. */
const otherRows = ({ conversations, agents }: Amounts): [string, string][] => {
  const some = (share: number) => `generate_series(1, ${Math.round(conversations * share)}) n`;
  const at = (share: number, of: number) => `now() - n * interval '${of} days' / ${Math.round(conversations * share)}`;
  const agent = (every: string) => `join filled_agents agent on agent.number = 1 + ${every}`;
  return [
    [
      "memories",
      `insert into memories (id, agent_id, organization_id, subject, content, digest, search, created_at, updated_at)
      select gen_random_uuid(), agent.id, organization_id, 'web:user-' || n / 7, asked || ' Likes order ' || n,
        sha256(n::text::bytea), asked_words || array_to_tsvector(array['likes', n::text]), ${at(0.25, days)}, ${at(0.25, days)}
      from ${some(0.25)} ${agent(`power(${agents - 1}::float8, (n * 0.6180339887 % 1)::float8)::int`)}
      join filled_texts text on text.number = 1 + n % ${texts}`,
    ],
    [
      "audit log",
      `insert into audit_logs (id, organization_id, actor_type, actor_id, actor_name, action, target, agent_id, ip, created_at)
      select gen_random_uuid(), organization_id, 'user', gen_random_uuid(), 'Person ' || n % 200,
        (array['agent.update', 'auth.sign-in', 'conversation.delete', 'secret.update'])[1 + n % 4], slug, agent.id,
        '10.0.0.1', ${at(0.125, days)}
      from ${some(0.125)} ${agent(`n % ${agents}`)}`,
    ],
    [
      "events",
      `insert into room_events (id, agent_id, organization_id, received_at, payload, outcome)
      select gen_random_uuid(), agent.id, organization_id, ${at(0.125, 33)},
        jsonb_build_object('action', 'opened', 'issue', jsonb_build_object('number', n, 'title', asked)), 'no-match'
      from ${some(0.125)} ${agent(`n % ${Math.ceil(agents / 100)}`)}
      join filled_texts text on text.number = 1 + n % ${texts}`,
    ],
    [
      "entries of backlogs",
      `insert into event_backlog (id, agent_id, organization_id, raw_payload, status, matched_at, completed_at)
      select gen_random_uuid(), agent.id, organization_id, '{"action": "opened"}', 'completed', ${at(0.06, 33)}, ${at(0.06, 33)}
      from ${some(0.06)} ${agent(`n % ${Math.ceil(agents / 100)}`)}`,
    ],
    [
      "tasks",
      `insert into scheduled_tasks (id, agent_id, organization_id, name, prompt, schedule, anchor_at, next_run_at)
      select gen_random_uuid(), id, organization_id, 'Daily', 'Sum up the day', '{"type": "interval", "everyMs": 86400000}',
        now(), now() + interval '1 day' from filled_agents`,
    ],
    [
      "runs",
      `insert into task_runs (id, task_id, agent_id, organization_id, due_at, trigger_type, status, attempts, output, created_at)
      select gen_random_uuid(), task.id, task.agent_id, task.organization_id, ${at(0.125, 100)}, 'schedule', 'completed', 1,
        'Nothing happened.', ${at(0.125, 100)}
      from ${some(0.125)} ${agent(`n % ${agents}`)} join scheduled_tasks task on task.agent_id = agent.id`,
    ],
    [
      "budgets",
      `insert into user_budget_periods (agent_id, subject, month, used)
      select agent.id, 'web:user-' || n, date_trunc('month', now() - (n % 2) * interval '2 months')::date, 900
      from ${some(0.05)} ${agent(`n % ${agents}`)}`,
    ],
    [
      "jobs",
      `insert into jobs (id, kind, key, organization_id, payload, run_at)
      select gen_random_uuid(), 'task.due', gen_random_uuid()::text, organization_id, '{}', now() + interval '1 day'
      from filled_agents`,
    ],
  ];
};
