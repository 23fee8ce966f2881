import { createServer } from "node:http";
import { systemClock } from "../../../src/adapters/node/clock.ts";
import { openStorage } from "../../../src/adapters/node/storage.ts";
import { parseSettings } from "../../../src/core/config.ts";
import { dueRooms } from "../../../src/features/room/scheduler/job.ts";
import { dueTasks } from "../../../src/features/tasks/due/work.ts";
import { createSchedule } from "../../../src/jobs/schedule.ts";
import { silent } from "../../embedded.ts";
import { announce } from "../processes.ts";
import { addCrowd } from "./crowd.ts";

// The scheduler alone, on a database that the engine made: `/crowd/<agents>/<entries>` adds agents, and `/ticks/<count>`
// has it look for due work so often, its clock half a minute on each time.

const { database } = await openStorage(parseSettings(process.env), { clock: systemClock, log: silent });

/** The results of a number of ticks. */
export interface Ticks {
  statements: number;
  /** Jobs that wait afterwards. */
  jobs: number;
  /** How long each took. */
  ms: number[];
}

let aheadMs = 0;
let statements = 0;
const schedule = createSchedule({
  database: {
    ...database,
    query: (text, parameters) => {
      statements += 1;
      return database.query(text, parameters);
    },
  },
  clock: { ...systemClock, now: () => systemClock.now() + aheadMs },
  sources: [dueRooms, dueTasks],
  wake: () => {},
});

async function tick(count: number): Promise<Ticks> {
  const ms: number[] = [];
  statements = 0;
  while (ms.length < count) {
    aheadMs += 30_000;
    const startedAt = performance.now();
    await schedule.tick();
    ms.push(performance.now() - startedAt);
  }
  const [waiting] = await database.query<{ jobs: number }>("select count(*)::int as jobs from jobs", []);
  return { statements, jobs: waiting?.jobs ?? 0, ms };
}

announce(
  createServer(async ({ url = "" }, response) => {
    const [, what, count, entries] = url.split("/");
    if (what === "crowd") {
      await addCrowd((text) => database.query(text, []), { agents: Number(count), entries: Number(entries) });
      response.end("{}");
    } else response.end(JSON.stringify(await tick(Number(count))));
  }),
);
