import type { Connection } from "./connection.ts";

/**
 * A connection whose statements the server ends after `ms` milliseconds, by a setting of each transaction: a pooler
 * takes none of a session. A single statement becomes a transaction, which costs the server some 60 µs.
 */
export function withDeadline(connection: Connection, ms: number): Connection {
  const begin = `begin; set local statement_timeout = ${ms}`;
  const { run } = connection;
  const running = new Set<Promise<unknown>>();
  return {
    ...connection,
    async run(text, parameters, shape, alone = false) {
      if (!alone) return run(text === "begin" ? begin : text, parameters, shape);
      // Given to the driver at once, so that nothing comes in between. A failed statement makes the commit a rollback.
      const given = [run(begin, [], "objects"), run(text, parameters, shape), run("commit", [], "objects")] as const;
      const answered = Promise.all(given);
      const settled = Promise.allSettled(given).finally(() => running.delete(settled));
      running.add(settled);
      const [, rows] = await answered;
      return rows;
    },
    async close() {
      // The driver closes behind a statement whose commit it has not sent.
      await Promise.all(running);
      await connection.close();
    },
  };
}
