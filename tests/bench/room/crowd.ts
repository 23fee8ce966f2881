/** Runs one statement without parameters. */
export type Run = (text: string) => Promise<unknown>;

interface Crowd {
  /** Agents like `room`, in addition to it. */
  agents: number;
  /** Entries that wait in the backlog of each. With any, its Room is due now, else tomorrow; its task is due tomorrow. */
  entries: number;
}

/** Adds agents to a database that has the agent `room`: each with a Room, a source with a definition, and a task like its. */
export async function addCrowd(run: Run, { agents, entries }: Crowd): Promise<void> {
  const others = "agents agent where agent.slug like 'crowd-%'";
  await run(`insert into agents
    (id, organization_id, workspace_id, slug, name, provider, model, fast_model, memory_enabled)
    select gen_random_uuid(), organization_id, workspace_id, 'crowd-' || n, 'Crowd', provider, model, fast_model, false
    from agents, generate_series(1, ${agents}) n where slug = 'room'`);
  await run(`insert into rooms (agent_id, id, organization_id, conversation_ref, pending_count, due_at)
    select id, gen_random_uuid(), organization_id, 'room:' || slug || ':1', ${entries},
      now() + interval '${entries > 0 ? 0 : 1} day'
    from ${others}`);
  await run(`insert into event_sources
    (id, agent_id, organization_id, name, source_type, token_digest, key_id, credentials)
    select gen_random_uuid(), agent.id, agent.organization_id, source.name, source.source_type, agent.slug,
      source.key_id, source.credentials
    from event_sources source, ${others}`);
  await run(`insert into event_definitions
    (id, source_id, agent_id, name, matching_prompt, action, interpretation_prompt, priority)
    select gen_random_uuid(), source.id, source.agent_id, definition.name, definition.matching_prompt,
      definition.action, definition.interpretation_prompt, 1
    from event_definitions definition, event_sources source where source.token_digest like 'crowd-%'`);
  await run(`insert into scheduled_tasks
    (id, agent_id, organization_id, name, prompt, schedule, anchor_at, next_run_at)
    select gen_random_uuid(), agent.id, agent.organization_id, task.name, task.prompt, task.schedule, task.anchor_at,
      now() + interval '1 day'
    from scheduled_tasks task, ${others}`);
  await run(`insert into event_backlog (id, agent_id, organization_id, definition_id, raw_payload, matched_at)
    select gen_random_uuid(), agent.id, agent.organization_id, definition.id,
      jsonb_build_object('action', 'opened', 'issue', jsonb_build_object('number', n, 'title', 'The basket is empty')),
      now()
    from generate_series(1, ${entries}) n, event_definitions definition
    join agents agent on agent.id = definition.agent_id and agent.slug like 'crowd-%'`);
  await run("analyze");
}
