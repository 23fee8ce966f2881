import { jobs } from "../../src/db/schema.ts";
import { messaging } from "../features/inbox/sending.ts";
import { freshDatabase, poolOn } from "../fresh-database.ts";
import type { TestPostgres } from "../real-postgres.ts";
import type { Bundle } from "./kill.ts";

/** An agent with an outbox, and processes of `sender.ts` that send its messages until they are killed. */
export async function senders(server: TestPostgres | null, bundle: Bundle) {
  const url = await freshDatabase(server);
  const database = poolOn({ url });
  const h = await messaging({ database });
  const calls = () => h.telegram.requests.filter(({ path }) => path.endsWith("/sendMessage")).length;
  /** Starts a process; it is gone when `killed` resolves. */
  const begin = (moment: "never" | "noting") => {
    const { child, ended: killed, output } = bundle.start(url, h.telegram.base, moment);
    return { child, killed, output };
  };
  /** Ends the leases of dead processes. */
  const expire = () => h.db.update(jobs).set({ lockedUntil: new Date(0) });
  return { ...h, calls, begin, expire };
}
