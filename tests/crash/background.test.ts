import { afterAll, expect, test, vi } from "vitest";
import type { Database } from "../../src/db/client.ts";
import { freshDatabase, poolOn } from "../fresh-database.ts";
import { harness, managedEdition } from "../harness.ts";
import { startPostgres } from "../real-postgres.ts";
import { inHardFaults } from "../rounds.ts";
import { bundled, crashDirectory, victimsConnections } from "./kill.ts";

const server = await startPostgres();
afterAll(() => server?.stop());

const bundle = bundled("background-victim");

/** When a process kills itself: at the n-th such statement, which stores the results of many jobs. */
type Moment = readonly [
  statement: "titles" | "facts" | "followed",
  moment: "before" | "sent" | "after",
  ordinal: number,
];

const conversations = 64;

/** Conversations of one exchange with as many end users, whose titles and memories are due. */
async function prepare(database: Database): Promise<void> {
  const h = await harness({ database });
  const { slug } = await h.agent({
    provider: "openai",
    model: "gpt-x",
    fastModel: "gpt-y",
    memoryEnabled: true,
    monthlyTokenBudget: 50_000_000,
  });
  await database.query(
    `with c as (
       insert into conversations (id, agent_id, organization_id, ref, channel, channel_id, subject, last_ticket, last_seq, message_count, title_due_at)
       select gen_random_uuid(), id, organization_id, 'c' || n, 'web', 'c' || n, 'user ' || n, 1, 2, 2, '2020-01-01'
       from agents, generate_series(1, $2::int) n where slug = $1 returning *
     ), t as (
       insert into turns (id, agent_id, organization_id, conversation_id, subject, status, owner, lease_until, door, provider)
       select gen_random_uuid(), agent_id, organization_id, id, subject, 'done', gen_random_uuid(), now(), 'native', 'openai'
       from c returning *
     ), m as (
       insert into messages (id, conversation_id, turn_id, seq, role, content)
       select gen_random_uuid(), t.conversation_id, t.id, seq, role, replace(t.subject, 'user', 'question')
       from t, (values (1, 'user'), (2, 'assistant')) as said(seq, role)
     )
     select`,
    [slug, conversations],
  );
}

/** Makes conversations that have rested and whose memories are due. */
async function rest(database: Database): Promise<void> {
  await database.query("delete from memories", []);
  await database.query("update conversations set metadata = '{}', follow_up_due_at = '2020-01-01'", []);
}

interface Row {
  n: number;
  title: string | null;
  memories: string[];
  read: number | null;
  /** Whether its title is due, and its follow-up after resting. */
  due: [title: boolean, rested: boolean];
}

const readAll = (database: Database) =>
  database.query<Row>(
    `select substr(ref, 2)::int as n, title, (metadata ->> 'extractedSeq')::int as read,
      (select coalesce(json_agg(content), '[]') from memories where subject = c.subject) as memories,
      json_build_array(title_due_at is not null, follow_up_due_at is not null) as due
     from conversations c order by 1`,
    [],
  );

/** Work that is no longer due is done, and done once. */
async function expectNothingLost(database: Database): Promise<void> {
  for (const { n, title, memories, read, due } of await readAll(database)) {
    if (!due[0]) expect(title).not.toBeNull();
    if (!due[0] && !due[1]) expect(read).toBe(2);
    if (title !== null) expect(title).toBe(`On question ${n}`);
    if (read !== null) expect(memories).toHaveLength(1);
    if (memories.length > 0) expect(memories).toEqual([`Asked question ${n}`]);
  }
}

/** The process that ran these jobs is gone. A job is given up when ten processes died with it; here more do. */
async function endLeases(database: Database): Promise<void> {
  const ended = await database.query<{ kind: string }>(
    "update jobs set locked_until = '2020-01-01', attempts = 1 where locked_until is not null returning kind",
    [],
  );
  expect(ended.length).toBeGreaterThan(0);
  await database.query("update budget_holds set lease_until = '2020-01-01'", []);
}

async function expectAllDone(database: Database): Promise<void> {
  const wanted = Array.from({ length: conversations }, (_, index) => ({
    n: index + 1,
    title: `On question ${index + 1}`,
    memories: [`Asked question ${index + 1}`],
    read: 2,
    due: [false, false],
  }));
  expect(await readAll(database)).toEqual(wanted);
  expect(await database.query("select from memories", [])).toHaveLength(conversations);
  expect(await database.query("select from jobs", [])).toEqual([]);
  expect(await database.query("select reserved::int from budget_periods", [])).toEqual([{ reserved: 0 }]);
}

const everywhere = (statement: Moment[0]) =>
  (["before", "sent", "after"] as const).map((moment): Moment => [statement, moment, 1]);

test.skipIf(!server)(
  "PostgreSQL: background work that a process does for many conversations is done once, wherever it is killed",
  async () => {
    const url = await freshDatabase(server);
    const database = poolOn({ url });
    await prepare(database);
    const place = `${url}?application_name=victim`;
    const endThrough = async (moments: readonly Moment[]) => {
      for (const [statement, moment, ordinal] of moments) {
        const { ended, stderr } = await bundle.run(place, statement, moment, String(ordinal));
        expect([ended, stderr]).toEqual(["SIGKILL", ""]);
        await vi.waitFor(async () => expect(await victimsConnections(database)).toBe(0), { timeout: 60_000 });
        await expectNothingLost(database);
        await endLeases(database);
      }
      expect(await bundle.run(place)).toEqual({ ended: 0, stdout: "", stderr: "" });
      await expectAllDone(database);
    };
    await endThrough([...everywhere("titles"), ...everywhere("facts")]);
    await rest(database);
    await endThrough(everywhere("followed"));
  },
  180_000,
);

test.each(
  inHardFaults(["the embedded database"]),
)("%s: background work that a process does for many conversations is done once, wherever it is killed", async () => {
  const { directory, open } = crashDirectory();
  const look = async (work: (database: Database) => Promise<void>) => {
    const { database, close } = await open();
    await work(database);
    await close();
  };
  const endThrough = async (moments: readonly Moment[]) => {
    for (const [statement, moment, ordinal] of moments) {
      const { ended, stderr } = await bundle.run(directory, statement, moment, String(ordinal));
      expect([ended, stderr]).toEqual(["SIGKILL", ""]);
      await look(async (database) => {
        await expectNothingLost(database);
        await endLeases(database);
      });
    }
    expect(await bundle.run(directory)).toEqual({ ended: 0, stdout: "", stderr: "" });
    await look(expectAllDone);
  };
  await look(prepare);
  await endThrough([["titles", "sent", 1], ["facts", "sent", 2], ...inHardFaults<Moment>([["facts", "after", 1]])]);
  await look(rest);
  await endThrough([["followed", "sent", 1]]);
}, 180_000);

test.skipIf(!server)(
  "PostgreSQL: a deletion by retention that is killed is continued, and the audit log has each row once",
  async () => {
    const url = await freshDatabase(server);
    const place = `${url}?application_name=victim`;
    const database = poolOn({ url });
    const h = await harness({ database });
    const { slug } = await h.agent();
    await database.query(
      `with c as (
         insert into conversations (id, agent_id, organization_id, ref, channel, channel_id, subject, message_count, updated_at)
         select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, id, organization_id, 'c' || n, 'web', 'c' || n, '', 1, '2020-01-01'
         from agents, generate_series(1, $2::int) n where slug = $1 returning *
       ), m as (
         insert into messages (id, conversation_id, seq, role, content) select gen_random_uuid(), id, 1, 'user', 'Hi' from c
       )
       insert into retention_policies (organization_id, subject, enabled, days, next_run_at)
       select organization_id, 'conversations', true, 30, '2020-01-02' from agents where slug = $1`,
      [slug, conversations],
    );
    /** The conversations and messages that are left, and the deleted conversations of all audit entries. */
    const counted = async () => {
      const [row] = await database.query<{ left: number; messages: number; deleted: number }>(
        `select (select count(*)::int from conversations) as left, (select count(*)::int from messages) as messages,
           (select coalesce(sum((summary #>> '{counts,conversations}')::int), 0)::int from audit_logs
            where action = 'retention.purge') as deleted`,
        [],
      );
      return row;
    };
    for (const [moment, ordinal] of [
      ["sent", 2],
      ["after", 1],
    ] as const) {
      const { ended, stderr } = await bundle.run(place, "purged", moment, String(ordinal), "managed");
      expect([ended, stderr]).toEqual(["SIGKILL", ""]);
      await vi.waitFor(async () => expect(await victimsConnections(database)).toBe(0), { timeout: 60_000 });
      const { left = 0, messages, deleted } = (await counted()) ?? {};
      expect([messages, deleted]).toEqual([left, conversations - left]);
      expect(left).toBeGreaterThan(0);
      await endLeases(database);
    }
    expect(await bundle.run(place, "", "", "", "managed")).toEqual({ ended: 0, stdout: "", stderr: "" });
    expect(await counted()).toEqual({ left: 0, messages: 0, deleted: conversations });
  },
  180_000,
);

test.skipIf(!server)(
  "PostgreSQL: the deletion of an organization that is killed between its agents is completed",
  async () => {
    const url = await freshDatabase(server);
    const place = `${url}?application_name=victim`;
    const database = poolOn({ url });
    const h = await harness({ database, edition: managedEdition });
    const organization = await h.createOrganization("other");
    const owner = await h.as("owner", { organization });
    for (const slug of ["first", "second", "third"]) {
      await h.request("/api/instances", { method: "POST", headers: owner, json: { slug } });
    }
    const init = { method: "DELETE", headers: owner, json: { confirm: "other" } };
    expect((await h.request("/api/organizations/other", init)).status).toBe(200);
    const left = async () => {
      const [row] = await database.query<{ agents: number; organizations: number }>(
        "select (select count(*)::int from agents) as agents, (select count(*)::int from organizations) as organizations",
        [],
      );
      return row;
    };
    const { ended, stderr } = await bundle.run(place, "purged", "before", "2", "managed");
    expect([ended, stderr]).toEqual(["SIGKILL", ""]);
    await vi.waitFor(async () => expect(await victimsConnections(database)).toBe(0), { timeout: 60_000 });
    expect(await left()).toEqual({ agents: 2, organizations: 2 });
    await endLeases(database);
    expect(await bundle.run(place, "", "", "", "managed")).toEqual({ ended: 0, stdout: "", stderr: "" });
    expect(await left()).toEqual({ agents: 0, organizations: 1 });
  },
  180_000,
);
