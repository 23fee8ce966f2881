import { expect, test } from "vitest";
import { newId } from "../../src/core/ids.ts";
import { upgradedDatabase } from "./older.ts";

/** The migrations before the one that gives subjects their channels. */
const before = 30;

const [organization, workspace, support, helper] = [newId(), newId(), newId(), newId()];

/** Conversations of the earlier release, by what the test calls them: agent, channel, id within the channel, subject. */
const conversations = {
  anonymous: [support, "web", "api-v", "support:web:api-v"],
  ada: [support, "web", "api-1", "ada"],
  likeMemory: [support, "web", "api-2", "web:ada"],
  five: [support, "web", "api-3", "5"],
  claims: [support, "web", "api-4", "support:web:api-w"],
  person: [support, "telegram", "42", "42"],
  telegramFive: [support, "telegram", "5", "5"],
  group: [support, "telegram", "-100", "support:telegram:-100"],
  slack: [support, "slack", "D1", "U1"],
  tried: [support, "playground", "try-1", "ada"],
  room: [support, "room", "1", "room:support:1"],
  asked: [helper, "agent", "support:x", "42"],
  askedOfFive: [helper, "agent", "support:y", "5"],
  askedOfVisitor: [helper, "agent", "support:z", "support:web:api-v"],
  run: [support, "scheduled", "t:1", "42"],
  ownRun: [support, "scheduled", "u:1", "support:scheduled:u:1"],
} as const;
type Name = keyof typeof conversations;

const expected: Record<Name, string> = {
  anonymous: "conversation:support:web:api-v",
  ada: "web:ada",
  likeMemory: "web:web:ada",
  five: "web:5",
  claims: "web:support:web:api-w",
  person: "telegram:42",
  telegramFive: "telegram:5",
  group: "conversation:support:telegram:-100",
  slack: "slack:U1",
  tried: "web:ada",
  room: "conversation:room:support:1",
  asked: "telegram:42",
  // Two people have this id, so the conversation can't tell whose it is.
  askedOfFive: "web:5",
  askedOfVisitor: "conversation:support:web:api-v",
  run: "telegram:42",
  ownRun: "conversation:support:scheduled:u:1",
};

const refOf = (name: Name) => {
  const [agent, channel, channelId] = conversations[name];
  return channel === "room"
    ? `room:support:${channelId}`
    : `${agent === support ? "support" : "helper"}:${channel}:${channelId}`;
};

test("stored subjects get the channel of their conversation, else the web, and nothing is lost", async () => {
  const ids = Object.fromEntries(Object.keys(conversations).map((name) => [name, newId()])) as Record<Name, string>;
  const each = Object.entries(conversations) as [Name, (typeof conversations)[Name]][];
  const { query } = await upgradedDatabase(before, async (run) => {
    await run("insert into organizations (id, slug, name) values ($1, 'acme', 'Acme')", [organization]);
    await run("insert into workspaces (id, organization_id, name) values ($1, $2, 'default')", [
      workspace,
      organization,
    ]);
    for (const [id, slug] of [
      [support, "support"],
      [helper, "helper"],
    ] as const) {
      await run(
        "insert into agents (id, organization_id, workspace_id, slug, name, provider, model) values ($1, $2, $3, $4, $4, 'demo', 'demo')",
        [id, organization, workspace, slug],
      );
    }
    for (const [name, [agent, channel, channelId, subject]] of each) {
      await run(
        "insert into conversations (id, agent_id, organization_id, ref, channel, channel_id, subject) values ($1, $2, $3, $4, $5, $6, $7)",
        [ids[name], agent, organization, refOf(name), channel, channelId, subject],
      );
      await run(
        `insert into turns (id, agent_id, organization_id, conversation_id, subject, status, owner, lease_until, door, channel)
         values (gen_random_uuid(), $1, $2, $3, $4, 'done', gen_random_uuid(), now(), 'native', $5)`,
        [agent, organization, ids[name], subject, channel],
      );
      await run(
        `insert into memories (id, agent_id, organization_id, subject, content, digest, search, source_conversation_id)
         values (gen_random_uuid(), $1, $2, $3, $4, sha256($5::bytea), ''::tsvector, $6)`,
        // Two memories of one subject would else be the same.
        [
          agent,
          organization,
          subject,
          name,
          subject === "5" || name === "tried" || name === "claims" || name === "run" ? name : "same",
          ids[name],
        ],
      );
      await run(
        `insert into user_usage_daily (agent_id, day, subject, conversation_id, turns, prompt_tokens, completion_tokens)
         values ($1, '2026-11-01', $2, $3, 1, 1, 1)`,
        [agent, subject, ids[name]],
      );
    }
    for (const [content, subject] of [
      ["rule", ""],
      ["sourceless", "42"],
      ["visitor", "support:web:api-gone"],
      ["unknown", "eve"],
      ["many", "5"],
    ] as const) {
      await run(
        `insert into memories (id, agent_id, organization_id, subject, content, digest, search)
         values (gen_random_uuid(), $1, $2, $3, $4, sha256($4::text::bytea), ''::tsvector)`,
        [support, organization, subject, content],
      );
    }
    for (const subject of ["ada", "web:ada", "42", "5", "support:web:api-v"]) {
      await run("insert into user_budget_periods (agent_id, subject, month, used) values ($1, $2, '2026-11-01', 7)", [
        support,
        subject,
      ]);
    }
    for (const [subject, channel] of [
      ["42", "telegram"],
      ["77", "telegram"],
      ["ada", null],
      ["", null],
      ["support:telegram:-100", "telegram"],
    ] as const) {
      await run(
        `insert into scheduled_tasks (id, agent_id, organization_id, name, prompt, schedule, anchor_at, subject, source, outbound_channel)
         values (gen_random_uuid(), $1, $2, 'n', 'p', '{}', now(), $3, 'agent', $4)`,
        [support, organization, subject, channel],
      );
    }
  });

  const byName = async (text: string) => {
    const rows = await query<{ name: string; subject: string }>(text, []);
    return Object.fromEntries(rows.map(({ name, subject }) => [name, subject]));
  };
  const nameOf = Object.fromEntries(each.map(([name]) => [ids[name], name]));
  const named = async (table: string, id: string) => {
    const rows = await byName(`select ${id}::text as name, subject from ${table}`);
    return Object.fromEntries(Object.entries(rows).map(([key, subject]) => [nameOf[key], subject]));
  };
  expect(await named("conversations", "id")).toEqual(expected);
  expect(await named("turns", "conversation_id")).toEqual(expected);
  expect(await named("user_usage_daily", "conversation_id")).toEqual(expected);
  expect(await byName("select content as name, subject from memories")).toEqual({
    ...expected,
    ...{
      rule: "",
      sourceless: "telegram:42",
      visitor: "conversation:support:web:api-gone",
      unknown: "web:eve",
      many: "web:5",
    },
  });
  expect(
    (await query<{ subject: string }>('select subject from user_budget_periods order by subject collate "C"', [])).map(
      ({ subject }) => subject,
    ),
  ).toEqual(["conversation:support:web:api-v", "telegram:42", "web:5", "web:ada", "web:web:ada"]);
  expect(
    (await query<{ subject: string }>('select subject from scheduled_tasks order by subject collate "C"', [])).map(
      ({ subject }) => subject,
    ),
  ).toEqual(["", "conversation:support:telegram:-100", "telegram:42", "telegram:77", "web:ada"]);
  const left = await query("select 1 from pg_proc where proname like 'subject_key%'", []);
  expect(left).toEqual([]);
  // The keys are unique again.
  await expect(
    query(
      "insert into user_budget_periods (agent_id, subject, month) select agent_id, subject, month from user_budget_periods limit 1",
      [],
    ),
  ).rejects.toThrow();
});
