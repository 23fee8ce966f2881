import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { agentWithRoom } from "../features/room/backlog/rooms.ts";
import { createDatabase, dropDatabase, startPostgres } from "../real-postgres.ts";
import { inHardFaults, randomTimes } from "../rounds.ts";
import { bundled, victimsConnections } from "./kill.ts";

const server = await startPostgres();
afterAll(() => server?.stop());

const bundle = bundled("room-victim");

/** When a process kills itself: at the n-th such moment, or this many milliseconds after its start. */
type Moment = readonly [moment: string, ordinal: number];

/** The steps of a turn and its job are the same as for a message, whose test tries all of them each time. */
const everywhere: Moment[] = [
  ["before record", 1],
  ["during complete", 2],
  ["after record", 3],
  ["before commit", 3],
  ["after commit", 8],
  ["thinking", 2],
  ["answering", 1],
  ...inHardFaults<Moment>([
    ...["open", "record", "complete"].flatMap((step, index): Moment[] => [
      [`before ${step}`, 1 + index],
      [`during ${step}`, 2],
      [`after ${step}`, 3 - index],
    ]),
    ...[3, 5, 6, 8, 9].flatMap((ordinal): Moment[] => [
      ["before commit", ordinal],
      ["after commit", ordinal],
    ]),
    ["thinking", 3],
    ["answering", 3],
  ]),
];
const randomly = randomTimes(3, { min: 50, max: 800 }).map((ms): Moment => ["ms", ms]);

/** The leases of the processes that were killed are over. */
async function endLeases(database: Database): Promise<void> {
  await vi.waitFor(async () => expect(await victimsConnections(database)).toBe(0), { timeout: 60_000 });
  await database.query("update jobs set locked_until = '2020-01-01' where locked_until is not null", []);
  const overdue = "update turns set lease_until = now() - interval '1 second' where status in ('queued', 'running')";
  await database.query(overdue, []);
}

interface Entry {
  id: string;
  status: string;
  attempts: number;
  error: string | null;
}

test.skipIf(!server)(
  "each event is handled by one live turn at a time, and in the end all are, wherever processes are killed",
  async () => {
    const url = await createDatabase(server?.url ?? "");
    const database = openDatabase({ url }, { max: 4, prepare: true, deadlineMs: 10_000, clock: systemClock });
    onTestFinished(async () => {
      await database.close();
      await dropDatabase(url);
    });
    const place = `${url}?application_name=victim`;
    const added: string[] = [];
    const run = async (owners: object[], [moment, ordinal]: Moment) => {
      const { ended, stdout, stderr } = await bundle.run(place, JSON.stringify(owners), moment, String(ordinal));
      expect([moment, ended, stderr]).toEqual([moment, "SIGKILL", ""]);
      added.push(...stdout.split("\n").filter((line) => line !== ""));
    };
    const waiting = [...randomly, ...everywhere];
    while (waiting.length > 0) {
      // Two processes with the same agents, both of which add and claim events.
      const owners = await Promise.all(Array.from({ length: 4 }, () => agentWithRoom(database)));
      const own = owners.map(({ agentId, organizationId, definitionId }) => ({
        agentId,
        organizationId,
        definitionId,
      }));
      await database.query("update agents set provider = 'openai', model = 'gpt-x'", []);
      await Promise.all(waiting.splice(0, 2).map((moment) => run(own, moment)));
      await endLeases(database);
    }
    // A Room whose job was lost with ten processes falls due again only after ten minutes.
    await database.query("update rooms set due_at = now() where due_at is not null", []);
    const { ended, stderr } = await bundle.run(place, "[]");
    expect([ended, stderr]).toEqual([0, ""]);
    const entries = await database.query<Entry>("select id, status, attempts, error from event_backlog", []);
    expect(entries.map(({ id }) => id)).toEqual(expect.arrayContaining(added));
    const unhandled = entries.filter(({ status }) => status !== "completed");
    for (const entry of unhandled) {
      // Entries that were being worked on when three processes in a row died.
      const error = "The process ended while the agent worked on it";
      expect(entry).toMatchObject({ status: "failed", attempts: 3, error });
    }
    expect(unhandled.length).toBeLessThan(entries.length / 10);
    expect(await database.query("select pending_count from rooms where pending_count > 0", [])).toEqual([]);
  },
  300_000,
);
