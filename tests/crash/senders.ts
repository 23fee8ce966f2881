import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, onTestFinished } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { openDatabase } from "../../src/db/client.ts";
import { jobs } from "../../src/db/schema.ts";
import { messaging } from "../features/inbox/sending.ts";
import { createDatabase, dropDatabase, startThrowaway } from "../real-postgres.ts";

/** The PostgreSQL of a test file; null where there is none for this platform. */
export const server = await startThrowaway();
afterAll(() => server?.stop());

/** An agent with an outbox, and processes that send what it holds until they are killed. */
export async function senders() {
  const url = await createDatabase(server?.url ?? "");
  const database = openDatabase({ url }, { max: 4, prepare: true, deadlineMs: 10_000, clock: systemClock });
  onTestFinished(async () => {
    await database.close();
    await dropDatabase(url);
  });
  const h = await messaging({ database });
  const calls = () => h.telegram.requests.filter(({ path }) => path.endsWith("/sendMessage")).length;
  /** Starts a process; it is gone when `killed` resolves. */
  const begin = (moment: "never" | "noting") => {
    const program = fileURLToPath(new URL("sender.ts", import.meta.url));
    const child = spawn(process.execPath, [program, url, h.telegram.base, moment], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const errors: string[] = [];
    child.stderr.setEncoding("utf8").on("data", (text: string) => errors.push(text));
    const killed = new Promise((resolve) => child.once("close", (code, signal) => resolve(signal ?? code)));
    return { child, killed, errors };
  };
  /** The leases of dead processes end. */
  const expire = () => h.db.update(jobs).set({ lockedUntil: new Date(0) });
  return { ...h, calls, begin, expire };
}
