import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import type { Target } from "../src/db/client.ts";
import { startEmbedded } from "./embedded.ts";

// Starting the embedded database takes longer than most files of tests, so the files of a run share a few databases,
// which run in the first process of the run. Each worker has its own, so that no two files use one at the same time.

/** The most databases that a test may have open at once. */
const each = 3;

/** Serves the databases of this many workers; the first client of each starts it. The returned function ends them. */
export async function shareEmbedded(workers: number): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "embedded-"));
  const shares = Array.from({ length: workers * each }, (_, index) => serve(join(folder, String(index))));
  await Promise.all(shares.map(({ listening }) => listening));
  process.env.TEST_EMBEDDED = folder;
  return async () => {
    await Promise.all(shares.map(({ stop }) => stop()));
    rmSync(folder, { recursive: true, force: true });
  };
}

/** The `n`-th database of this worker, counted from 0, after its start; null in a run that shares none. */
export async function sharedEmbedded(n: number): Promise<Target | null> {
  const folder = process.env.TEST_EMBEDDED;
  const worker = Number(process.env.VITEST_POOL_ID) - 1;
  if (!folder || !(worker >= 0)) return null;
  if (n >= each) throw new Error(`A test has at most ${each} databases: each further one would have to be started`);
  const path = join(folder, String(worker * each + n));
  // The server closes this silent connection only after the database has started, however long that takes.
  await once(connect(path).resume().end(), "close");
  return { dial: () => connect(path) };
}

function serve(path: string) {
  let database: ReturnType<typeof startEmbedded> | undefined;
  const clients = new Set<Socket>();
  // Data of a client is read only after the database has started.
  const server: Server = createServer({ pauseOnConnect: true }, (client) => {
    clients.add(client);
    client.on("close", () => clients.delete(client));
    client.on("error", () => client.destroy());
    database ??= startEmbedded();
    database
      .then(({ target }) => open(target))
      .then(
        (stream) => (client.destroyed ? stream.destroy() : bridge(client, stream)),
        () => client.destroy(),
      );
  });
  const listening = new Promise<void>((resolve) => server.listen(path, resolve));
  const stop = async () => {
    for (const client of clients) client.destroy();
    server.close();
    await (await database)?.close();
  };
  return { listening, stop };
}

async function open(target: Target): Promise<Duplex> {
  if (!("dial" in target)) throw new Error("The embedded database has no address");
  return (await target.dial()) as Duplex;
}

/** Joins the pieces of a socket to whole messages of PostgreSQL's protocol, which the database needs. */
function bridge(client: Socket, database: Duplex): void {
  let pending: Buffer = Buffer.alloc(0);
  let greeted = false;
  client.on("data", (bytes: Buffer) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    let end = 0;
    for (;;) {
      // The first message has no type in front of its length.
      const head = end + (greeted ? 1 : 0);
      if (pending.length < head + 4) break;
      const next = head + pending.readInt32BE(head);
      if (pending.length < next) break;
      end = next;
      greeted = true;
    }
    if (end === 0) return;
    database.write(Buffer.from(pending.subarray(0, end)));
    pending = pending.subarray(end);
  });
  database.on("data", (bytes: Buffer) => client.write(bytes));
  client.on("close", () => database.destroy());
  database.on("close", () => client.destroy());
  client.resume();
}
