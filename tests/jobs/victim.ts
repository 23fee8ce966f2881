// Takes a job and never ends it; the test kills it.
import { systemClock } from "../../src/adapters/node/clock.ts";
import { unmeasured } from "../../src/core/meters.ts";
import { localNotify } from "../../src/core/notify.ts";
import { openDatabase } from "../../src/db/client.ts";
import { createWorker } from "../../src/jobs/worker.ts";
import { silent } from "../embedded.ts";

const [, , url = ""] = process.argv;
const database = openDatabase({ url }, { max: 2, prepare: true, deadlineMs: 5_000, clock: systemClock });
const worker = createWorker(
  { database, clock: systemClock, log: silent, meters: unmeasured, notify: localNotify(silent) },
  {
    count: {
      run: ({ id }) =>
        new Promise(() => {
          process.stdout.write(`took ${id}\n`);
        }),
    },
  },
);
await worker.tick();
setInterval(() => {}, 60_000);
