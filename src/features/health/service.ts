import { sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { type Check, ok } from "../../core/check.ts";
import type { SchedulerHealth } from "../room/index.ts";
import { checkContent, checkDatabase, checkScheduler } from "./checks.ts";
import { inspect } from "./inspect.ts";
import type { InstallationHealth } from "./schema.ts";

export interface HealthDependencies {
  services: Services;
  scheduler: () => Promise<SchedulerHealth>;
}

/** Examines the installation of a running server. Requests at the same time share one examination. */
export function createExamine(needs: HealthDependencies): () => Promise<InstallationHealth> {
  let running: Promise<InstallationHealth> | null = null;
  return () => {
    running ??= examine(needs).finally(() => {
      running = null;
    });
    return running;
  };
}

async function examine({ services, scheduler: readScheduler }: HealthDependencies): Promise<InstallationHealth> {
  const { database, machine, options } = services;
  const inspection = await inspect(services);
  const { publicAddress, defaultModel } = inspection.settings.policies;
  const [version, scheduler, { before, after }] = await Promise.all([
    readVersion(database.db),
    readScheduler(),
    machine.examine({ publicAddress, defaultModel }),
  ]);
  const checks: Check[] = [
    ...before,
    checkDatabase(version, machine.databaseHost),
    // Always true: a server that could not apply its migrations does not start.
    ok("migrations", "All applied"),
    ...checkContent(inspection, "agent-engine"),
    checkScheduler(scheduler),
    ...after,
  ];
  return {
    ok: checks.every(({ status }) => status !== "fail"),
    version: options.version,
    checks: checks.map((check) => ({ ...check, message: machine.scrub(check.message) })),
    scheduler,
  };
}

async function readVersion(db: Services["database"]["db"]): Promise<number> {
  const [row] = await db.execute<{ version: number }>(
    sql`select current_setting('server_version_num')::int as version`,
  );
  if (!row) throw new Error("The database does not know itself");
  return row.version;
}
