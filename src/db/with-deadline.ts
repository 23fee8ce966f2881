import type { Connection } from "./connection.ts";

/**
 * A connection whose statements the server ends after `ms` milliseconds, by a setting of each transaction: a pooler
 * takes none of a session. A single statement becomes a transaction, which costs the server some 60 µs.
 */
export function withDeadline(connection: Connection, ms: number): Connection {
  const begin = `begin; set local statement_timeout = ${ms}`;
  const { run } = connection;
  return {
    ...connection,
    async run(text, parameters, shape, alone = false) {
      if (!alone) return run(text === "begin" ? begin : text, parameters, shape);
      // Sent together, without waiting for answers; a failed statement makes the commit a rollback.
      const sent = [run(begin, [], "objects"), run(text, parameters, shape), run("commit", [], "objects")] as const;
      const [, rows] = await Promise.all(sent);
      return rows;
    },
  };
}
