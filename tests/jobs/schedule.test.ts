import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newId } from "../../src/core/ids.ts";
import { agents, jobs, rooms } from "../../src/db/schema.ts";
import { dueRooms } from "../../src/features/room/scheduler/job.ts";
import { dueTasks } from "../../src/features/tasks/due/work.ts";
import { createSchedule } from "../../src/jobs/schedule.ts";
import { harness } from "../harness.ts";
import { explaining, sum } from "../plan.ts";
import { spyOnStatements } from "../statements.ts";
import { jobHarness } from "./jobs.ts";

/** A schedule with one source, whose rows are in a table of the test. */
async function withSource(due: { key: string; at: number }[]) {
  const h = await jobHarness();
  let woken = 0;
  const start = h.clock.now();
  const rowOf = ({ key, at }: { key: string; at: number }) =>
    sql`select 'chore', ${key}::text, null::uuid, jsonb_build_object('key', ${key}::text), ${new Date(start + at).toISOString()}::timestamptz`;
  const schedule = createSchedule({
    ...h,
    sources: [
      ({ horizon }) =>
        sql`select * from (${sql.join(due.map(rowOf), sql` union all `)}) one(a, b, c, d, at) where at <= ${horizon}`,
    ],
    wake: () => {
      woken += 1;
    },
  });
  const waiting = async () => (await h.rows()).map(({ key, runAt }) => [key, runAt.getTime() - start]);
  return { ...h, schedule, waiting, woken: () => woken };
}

describe("the tick", () => {
  test("makes jobs of the work due before the next one, once", async () => {
    const h = await withSource([
      { key: "past", at: -60_000 },
      { key: "soon", at: 35_000 },
      { key: "later", at: 40_000 },
    ]);
    expect(h.schedule.lastTickAt()).toBeNull();
    await h.schedule.tick();
    const first = [
      ["past", -60_000],
      ["soon", 35_000],
    ];
    expect((await h.waiting()).toSorted()).toEqual(first);
    expect([h.woken(), h.schedule.lastTickAt()]).toEqual([1, h.clock.now()]);
    await h.clock.jump(30_000);
    await h.schedule.tick();
    expect((await h.waiting()).toSorted()).toEqual([["later", 40_000], ...first]);
    expect(h.woken()).toBe(2);
  });

  test("comes every 30 seconds, however often it is called", async () => {
    const h = await withSource([{ key: "one", at: 0 }]);
    const { texts } = spyOnStatements(h.database);
    const begun = h.clock.now();
    for (let passed = 0; passed <= 60_000; passed += 10_000) {
      await h.schedule.tick();
      await h.clock.jump(10_000);
    }
    expect(texts()).toHaveLength(3);
    expect(h.schedule.lastTickAt()).toBe(begun + 60_000);
  });

  test("goes on when the system's time is set back", async () => {
    const h = await withSource([{ key: "one", at: 0 }]);
    await h.schedule.tick();
    h.clock.setBack(60 * 60_000);
    const { texts } = spyOnStatements(h.database);
    for (let passed = 0; passed <= 60_000; passed += 10_000) {
      await h.schedule.tick();
      await h.clock.jump(10_000);
    }
    expect(texts()).toHaveLength(3);
  });

  test("leaves waiting and running jobs alone, and a waiting one keeps its time", async () => {
    const h = await withSource([
      { key: "waits", at: 0 },
      { key: "runs", at: 0 },
    ]);
    await h.enqueue("chore", { own: true }, { key: "waits", runAt: h.at(90_000) });
    await h.enqueue("chore", {}, { key: "runs" });
    await h.database.db
      .update(jobs)
      .set({ lockedBy: newId(), lockedUntil: h.at(30_000) })
      .where(eq(jobs.key, "runs"));
    await h.schedule.tick();
    const rows = await h.rows();
    expect(rows.map(({ key }) => key).toSorted()).toEqual(["runs", "waits"]);
    expect(rows.find(({ key }) => key === "waits")).toMatchObject({ payload: { own: true }, runAt: h.at(90_000) });
    expect(h.woken()).toBe(0);
  });

  test("that failed is made up for at the next call", async () => {
    const h = await withSource([{ key: "one", at: 0 }]);
    const spy = spyOnStatements(h.database);
    spy.failWith(new Error("The database is away"));
    await expect(h.schedule.tick()).rejects.toThrow("The database is away");
    expect(h.schedule.lastTickAt()).toBeNull();
    spy.restore();
    await h.schedule.tick();
    expect(await h.waiting()).toEqual([["one", 0]]);
  });

  test("of several processes gives each due work one job", async () => {
    const due = Array.from({ length: 50 }, (_, n) => ({ key: `work-${n}`, at: 0 }));
    const h = await withSource(due);
    const rowsOf = ({ now }: { now: ReturnType<typeof sql> }) =>
      sql`select 'chore', 'work-' || n, null::uuid, '{}'::jsonb, ${now} from generate_series(0, 49) n`;
    const others = Array.from({ length: 3 }, () => createSchedule({ ...h, sources: [rowsOf], wake: () => {} }));
    await Promise.all([h.schedule, ...others].map((schedule) => schedule.tick()));
    expect(await h.rows()).toHaveLength(50);
    const begun: string[] = [];
    const keep = async ({ payload }: { payload: unknown }) => void begun.push(JSON.stringify(payload));
    await Promise.all([h.worker({ chore: keep }).work(), h.worker({ chore: keep }).work()]);
    expect(begun).toHaveLength(50);
  });
});

describe("Rooms and tasks", () => {
  /** This many agents with Rooms and tasks that are not due, and three with due Rooms. */
  async function crowd(many: number) {
    const h = await harness();
    const { database, clock } = h.services;
    const { slug } = await h.agent();
    const at = (ms: number) => new Date(clock.now() + ms).toISOString();
    await database.query(
      `insert into agents (id, organization_id, workspace_id, slug, name)
        select gen_random_uuid(), organization_id, workspace_id, 'crowd-' || n, 'Crowd'
        from agents, generate_series(1, ${many + 3}) n where slug = $1`,
      [slug],
    );
    await database.query(
      `insert into rooms (agent_id, id, organization_id, conversation_ref, due_at)
        select id, id, organization_id, 'room:' || slug || ':1',
          case when split_part(slug, '-', 2)::int > ${many} then $1::timestamptz
            when split_part(slug, '-', 2)::int % 2 = 0 then $2::timestamptz end
        from agents where slug like 'crowd-%'`,
      [at(-1_000), at(3_600_000)],
    );
    await database.query(
      `insert into scheduled_tasks (id, agent_id, organization_id, name, prompt, schedule, anchor_at, next_run_at)
        select gen_random_uuid(), id, organization_id, 'Report', 'Report', '{}', $1::timestamptz, $1::timestamptz
        from agents where slug like 'crowd-%'`,
      [at(3_600_000)],
    );
    await database.query("analyze", []);
    const schedule = createSchedule({ ...h.services, sources: [dueRooms, dueTasks], wake: () => {} });
    const find = async (n: number) => {
      const [found] = await database.db
        .select()
        .from(agents)
        .where(eq(agents.slug, `crowd-${n}`));
      return found?.id ?? "";
    };
    const due = async () => (await database.db.select().from(jobs)).map(({ kind, key }) => `${kind} ${key}`);
    return { ...h, database, schedule, find, due };
  }

  test("are one statement for 10,000 idle agents, which walks along indexes", async () => {
    const h = await crowd(10_000);
    const { texts } = spyOnStatements(h.database);
    await h.schedule.tick();
    expect(texts()).toHaveLength(1);
    expect(await h.due()).toHaveLength(3);
    const [text = ""] = texts();
    const parameters = [...new Set(text.match(/\$\d+/g))].map(() => new Date(h.clock.now()).toISOString());
    const explained = explaining(h.database);
    await explained.database.query(text, parameters);
    expect(explained.reads("rooms").flatMap(({ indexes }) => indexes)).toContain("rooms_due");
    expect(explained.reads("scheduled_tasks").flatMap(({ indexes }) => indexes)).toContain("scheduled_tasks_due");
    for (const table of ["rooms", "scheduled_tasks", "agents"]) {
      expect(sum(explained.reads(table).map(({ read }) => read))).toBeLessThan(100);
    }
  });

  test("are left alone while they are off, or their agent is", async () => {
    const h = await crowd(1);
    const { db } = h.database;
    const [inactive, off, on] = await Promise.all([1, 2, 3].map((n) => h.find(1 + n)));
    await db
      .update(agents)
      .set({ active: false })
      .where(eq(agents.id, inactive ?? ""));
    await db
      .update(rooms)
      .set({ enabled: false })
      .where(eq(rooms.agentId, off ?? ""));
    await h.schedule.tick();
    expect(await h.due()).toEqual([`room.evaluate ${on}`]);
  });
});
