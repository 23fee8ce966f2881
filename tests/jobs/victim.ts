// Takes a job and never ends it, and prints when it lost the job; the test kills or freezes this process.
import { systemClock } from "../../src/adapters/node/clock.ts";
import { unmeasured } from "../../src/core/meters.ts";
import { localNotify } from "../../src/core/notify.ts";
import { openDatabase } from "../../src/db/client.ts";
import { Heartbeat } from "../../src/jobs/heartbeat.ts";
import { createWorker } from "../../src/jobs/worker.ts";
import { silent } from "../embedded.ts";

const [, , url = ""] = process.argv;
const database = openDatabase({ url }, { max: 2, prepare: true, deadlineMs: 5_000, clock: systemClock });
const heartbeat = new Heartbeat({ clock: systemClock });
const worker = createWorker(
  { database, clock: systemClock, log: silent, meters: unmeasured, notify: localNotify(silent), heartbeat },
  {
    count: {
      run: ({ id }, signal) =>
        new Promise(() => {
          signal.addEventListener("abort", () => process.stdout.write(`lost ${id}: ${signal.reason.message}\n`));
          process.stdout.write(`took ${id}\n`);
        }),
    },
  },
);
await worker.tick();
setInterval(() => void heartbeat.beat().catch(() => {}), 100);
