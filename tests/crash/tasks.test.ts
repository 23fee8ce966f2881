import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { saveChannel } from "../features/inbox/messengers.ts";
import { harness } from "../harness.ts";
import { createDatabase, dropDatabase, startPostgres } from "../real-postgres.ts";
import { inHardFaults, randomTimes } from "../rounds.ts";
import { bundled, crashDirectory, victimsConnections } from "./kill.ts";

const server = await startPostgres();
afterAll(() => server?.stop());

const bundle = bundled("tasks-victim");

/** When a process kills itself: at the n-th such moment, or this many milliseconds after its start. */
type Moment = readonly [moment: string, ordinal: number];

/** The steps of a turn and its job are the same as for a message, whose test tries all of them each time. */
const everywhere: Moment[] = [
  // Transactions create tasks, start runs, and end runs.
  ["before store", 4],
  ["after store", 10],
  ["before record", 2],
  ["during complete", 4],
  ["after record", 3],
  ["thinking", 3],
  ...inHardFaults<Moment>([
    ...[4, 7, 10].flatMap((ordinal): Moment[] => [
      ["before store", ordinal],
      ["after store", ordinal],
    ]),
    ...["record", "complete"].flatMap((step, index): Moment[] => [
      [`before ${step}`, 2 + index],
      [`during ${step}`, 3 + index],
      [`after ${step}`, 3],
    ]),
  ]),
];
const randomly = (count: number) => randomTimes(count, { min: 50, max: 800 }).map((ms): Moment => ["ms", ms]);

async function prepare(database: Database): Promise<void> {
  const h = await harness({ database });
  const { slug } = await h.agent({ provider: "openai", model: "gpt-x" });
  await saveChannel(h, slug, "telegram");
}

/** Runs a victim to its end; answers the tasks that it made. */
async function kill(place: string, series: number, [moment, ordinal]: Moment): Promise<string[]> {
  const { ended, stdout, stderr } = await bundle.run(place, String(series), moment, String(ordinal));
  expect([moment, ended, stderr]).toEqual([moment, "SIGKILL", ""]);
  return stdout.split("\n").filter((line) => line !== "");
}

/** The leases of the processes that were killed are over. */
async function endLeases(database: Database): Promise<void> {
  await database.query("update jobs set locked_until = '2020-01-01' where locked_until is not null", []);
  const overdue = "update turns set lease_until = now() - interval '1 second' where status in ('queued', 'running')";
  await database.query(overdue, []);
}

interface Ran {
  name: string;
  runs: string[];
  /** The messages in the conversations of the task. */
  said: string[];
  sent: string[];
}

const readRan = (database: Database) =>
  database.query<Ran>(
    `select name,
      (select coalesce(json_agg(r.status), '[]') from task_runs r where r.task_id = t.id) as runs,
      (select coalesce(json_agg(m.content order by m.seq), '[]') from messages m
        join conversations c on c.id = m.conversation_id where c.channel_id like t.id || ':%') as said,
      (select coalesce(json_agg(o.body || ' ' || o.status), '[]') from outbox o where o.target = t.name) as sent
     from scheduled_tasks t order by 1`,
    [],
  );

type Look = (work: (database: Database) => Promise<void>) => Promise<void>;

/** Each task that was made is run once, and its reply is sent once. */
async function expectRanOnce(place: string, made: string[], look: Look): Promise<void> {
  await look(endLeases);
  const { ended, stderr } = await bundle.run(place);
  expect([ended, stderr]).toEqual([0, ""]);
  await look(async (database) => {
    const ran = await readRan(database);
    expect(ran.map(({ name }) => name)).toEqual(expect.arrayContaining(made));
    for (const one of ran) {
      const { name } = one;
      expect(one).toEqual({ name, runs: ["completed"], said: [name, "Answered."], sent: ["Answered. sent"] });
    }
    expect(await database.query("select from jobs", [])).toEqual([]);
  });
}

test.skipIf(!server)(
  "PostgreSQL: each task that is due is run once, wherever the process is killed",
  async () => {
    const url = await createDatabase(server?.url ?? "");
    const database = openDatabase({ url }, { max: 4, prepare: true, deadlineMs: 10_000, clock: systemClock });
    onTestFinished(async () => {
      await database.close();
      await dropDatabase(url);
    });
    await prepare(database);
    const place = `${url}?application_name=victim`;
    const made: string[] = [];
    const waiting = [...everywhere, ...randomly(2)].map((moment, index) => ({ moment, series: 1_000 + 10 * index }));
    const runner = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift())
        made.push(...(await kill(place, next.series, next.moment)));
    };
    // Two replicas, each of which finds the other's unfinished work.
    await Promise.all([runner(), runner()]);
    await vi.waitFor(async () => expect(await victimsConnections(database)).toBe(0), { timeout: 60_000 });
    await expectRanOnce(place, made, (work) => work(database));
  },
  240_000,
);

test.each(
  inHardFaults(["the embedded database"]),
)("%s: each task that is due is run once, wherever the process is killed", async () => {
  const { directory, open } = crashDirectory();
  const look: Look = async (work) => {
    const { database, close } = await open();
    await work(database);
    await close();
  };
  await look(prepare);
  const moments: Moment[] = [
    ["after store", 7],
    ["during record", 2],
  ];
  const made: string[] = [];
  for (const [index, moment] of moments.entries()) made.push(...(await kill(directory, 1_000 + 10 * index, moment)));
  await expectRanOnce(directory, made, look);
}, 180_000);
