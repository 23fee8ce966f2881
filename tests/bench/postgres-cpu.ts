import { existsSync, readdirSync, readFileSync } from "node:fs";
import postgres from "postgres";
import { cpuMs } from "./processes.ts";

/** CPU time of a PostgreSQL on this machine. */
export interface PostgresCpu {
  /** Begins to count; the function answers what the backends of a database have used since, in milliseconds. */
  count(database: string): () => number;
}

/** Null where the server's processes can't be seen. */
export async function watchPostgres(url: string): Promise<PostgresCpu | null> {
  const sql = postgres(url, { max: 1 });
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const postmaster = backend && statOf(backend.pid)?.parent;
  await sql.end();
  if (postmaster === undefined || !existsSync(`/proc/${postmaster}/task`)) return null;

  const children = () =>
    readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid && statOf(pid)?.parent === postmaster);
  const usage = () => new Map(children().map((pid) => [pid, cpuMs(pid)]));
  const exited = () => statOf(postmaster)?.childrenMs ?? 0;
  return {
    count(database) {
      const [before, exitedBefore] = [usage(), exited()];
      return () => {
        const after = usage();
        let ms = 0;
        for (const [pid, used] of after)
          if (titleOf(pid).includes(` ${database} `)) ms += used - (before.get(pid) ?? 0);
        // Sessions such as workers of a query. Their time until then was counted before.
        let gone = exited() - exitedBefore;
        for (const [pid, used] of before) if (!after.has(pid)) gone -= used;
        return ms + Math.max(0, gone);
      };
    },
  };
}

function statOf(pid: number): { parent: number; childrenMs: number } | null {
  try {
    // The name in parentheses may hold spaces. Times are in hundredths of a second, whatever the platform.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return { parent: Number(fields[1]), childrenMs: (Number(fields[13]) + Number(fields[14])) * 10 };
  } catch {
    return null;
  }
}

/** Such as `postgres: user database 127.0.0.1(5432) idle`. */
function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
