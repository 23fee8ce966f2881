import type { Clock } from "../core/ports.ts";
import { withinTime } from "../core/time/deadline.ts";
import { openConnection, type Target } from "./connection.ts";
import { tooLate } from "./failures.ts";
import { type Migration, pendingMigrations, type RunText, readApplied, readFacts } from "./migrate.ts";

export interface SchemaState {
  /** `server_version_num`, such as 150004. */
  version: number;
  /** The number of this release's migrations that are not applied. */
  pending: number;
}

/** Checks the schema as `migrate` does, but changes nothing. Rejects as `migrate` does. */
export async function inspectSchema(
  target: Target,
  migrations: readonly Migration[],
  { clock, timeoutMs }: { clock: Clock; timeoutMs: number },
): Promise<SchemaState> {
  const connection = openConnection(target, { prepare: false });
  const run: RunText = (text, parameters = []) => connection.run(text, parameters, "objects");
  const look = async (): Promise<SchemaState> => {
    const server = await readFacts(run);
    const applied = server.known ? await readApplied(run) : [];
    return { version: server.version, pending: pendingMigrations(migrations, applied).length };
  };
  try {
    return await withinTime(clock, timeoutMs, tooLate(), look);
  } finally {
    connection.destroy();
  }
}
