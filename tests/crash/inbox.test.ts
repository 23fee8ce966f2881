import { afterAll, expect, test, vi } from "vitest";
import type { Database } from "../../src/db/client.ts";
import { saveChannel } from "../features/inbox/messengers.ts";
import { freshDatabase, poolOn } from "../fresh-database.ts";
import { harness } from "../harness.ts";
import { startPostgres } from "../real-postgres.ts";
import { inHardFaults, randomTimes } from "../rounds.ts";
import { bindWithFallback } from "./fallback.ts";
import { bundled, crashDirectory, victimsConnections } from "./kill.ts";

const server = await startPostgres();
afterAll(() => server?.stop());

const bundle = bundled("inbox-victim");

/** When a process kills itself: at the n-th such moment, or this many milliseconds after its start. */
type Moment = readonly [moment: string, ordinal: number];

const steps = ["claim", "open", "record", "complete"];
const everywhere: Moment[] = [
  ["before store", 4],
  ["after store", 5],
  ...steps.flatMap((step, index): Moment[] => [
    [`before ${step}`, 1 + index],
    [`during ${step}`, 2 + index],
    [`after ${step}`, 3],
  ]),
  ["thinking", 3],
  ["streaming", 4],
];
const randomly = (count: number) => randomTimes(count, { min: 50, max: 800 }).map((ms): Moment => ["ms", ms]);

async function prepare(database: Database): Promise<string> {
  const h = await harness({ database });
  const { slug } = await h.agent({ provider: "openai", model: "gpt-x", debounceMs: 5 });
  await saveChannel(h, slug, "telegram");
  await bindWithFallback(h, slug);
  return slug;
}

/** Runs a victim to its end; answers the acknowledged messages. */
async function kill(place: string, slug: string, chat: number, [moment, ordinal]: Moment): Promise<string[]> {
  const { ended, stdout, stderr } = await bundle.run(place, slug, String(chat), moment, String(ordinal));
  expect([moment, ended, stderr]).toEqual([moment, "SIGKILL", ""]);
  return stdout.split("\n").filter((line) => line !== "");
}

/**
 * The jobs of the processes that were killed are taken over only after all were. On a slow machine their leases would
 * end before; a reply that was being sent at two kills is given up.
 */
async function keepLeases(database: Database): Promise<void> {
  await database.query("update jobs set locked_until = now() + interval '1 hour' where locked_until is not null", []);
}

/** The leases of the processes that were killed are over. */
async function endLeases(database: Database): Promise<void> {
  await database.query("update jobs set locked_until = '2020-01-01' where locked_until is not null", []);
  const overdue = "update turns set lease_until = now() - interval '1 second' where status in ('queued', 'running')";
  await database.query(overdue, []);
}

interface Answered {
  name: string;
  status: string;
  /** The positions of the message in the transcript. */
  said: number;
  replies: string[];
}

const readAnswered = (database: Database) =>
  database.query<Answered>(
    `select payload ->> 'text' as name, status,
      (select count(*)::int from messages m where m.role = 'user' and m.content = i.payload ->> 'text') as said,
      (select coalesce(json_agg(o.body || ' ' || o.status), '[]') from outbox o where o.turn_id = i.turn_id) as replies
     from inbox i order by 1`,
    [],
  );

/** Each message that was acknowledged, and each that is sent again since it was not, is answered once. */
async function expectAnsweredOnce(place: string, slug: string, acknowledged: string[], look: Look): Promise<void> {
  await look(endLeases);
  const last = Map.groupBy(acknowledged, (name) => name.split(":")[0]);
  const next = [...last].map(
    ([chat, names]) => `${chat}:${Math.max(...names.map((name) => Number(name.split(":")[1]))) + 1}`,
  );
  const again = JSON.stringify([...next, ...acknowledged]);
  const { ended, stderr } = await bundle.run(place, slug, again);
  expect([ended, stderr]).toEqual([0, ""]);
  await look(async (database) => {
    const answered = await readAnswered(database);
    expect(answered.map(({ name }) => name)).toEqual(expect.arrayContaining([...acknowledged, ...next]));
    for (const one of answered) {
      const { name } = one;
      expect(one).toEqual({ name, status: "done", said: 1, replies: ["Answered. sent"] });
    }
    expect(await database.query("select from jobs", [])).toEqual([]);
    // The agent's first connection fails in each process.
    const others = `select from messages
      where role = 'assistant' and metadata -> 'model' -> 0 ->> 'connection' is distinct from 'second'`;
    expect(await database.query(others, [])).toEqual([]);
  });
}

type Look = (work: (database: Database) => Promise<void>) => Promise<void>;

test.skipIf(!server)(
  "PostgreSQL: each message that was acknowledged is answered once, wherever the process is killed",
  async () => {
    const url = await freshDatabase(server);
    const database = poolOn({ url });
    const slug = await prepare(database);
    const place = `${url}?application_name=victim`;
    const acknowledged: string[] = [];
    const waiting = [...everywhere, ...randomly(2)].map((moment, index) => ({ moment, chat: 1_000 * (index + 1) }));
    const runner = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        acknowledged.push(...(await kill(place, slug, next.chat, next.moment)));
        await keepLeases(database);
      }
    };
    // Two replicas, each of which finds the other's unfinished work.
    await Promise.all([runner(), runner()]);
    await vi.waitFor(async () => expect(await victimsConnections(database)).toBe(0), { timeout: 60_000 });
    await expectAnsweredOnce(place, slug, acknowledged, (work) => work(database));
  },
  240_000,
);

test.each(
  inHardFaults(["the embedded database"]),
)("%s: each message that was acknowledged is answered once, wherever the process is killed", async () => {
  const { directory, open } = crashDirectory();
  const look: Look = async (work) => {
    const { database, close } = await open();
    await work(database);
    await close();
  };
  let slug = "";
  await look(async (database) => {
    slug = await prepare(database);
  });
  const moments: Moment[] = [["after store", 4], ["during record", 2], ["after record", 3], ...randomly(1)];
  const acknowledged: string[] = [];
  for (const [index, moment] of moments.entries()) {
    acknowledged.push(...(await kill(directory, slug, 1_000 * (index + 1), moment)));
  }
  await expectAnsweredOnce(directory, slug, acknowledged, look);
}, 180_000);
