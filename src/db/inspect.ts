import type { Clock } from "../core/ports.ts";
import { openConnection, type Target } from "./connection.ts";
import { tooLate } from "./failures.ts";
import {
  checkServer,
  facts,
  type Migration,
  pendingMigrations,
  type RunText,
  readApplied,
  type ServerFacts,
} from "./migrate.ts";

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
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(timeoutMs, () => reject(tooLate()));
  });
  const look = async (): Promise<SchemaState> => {
    const [server] = (await run(facts)) as readonly (ServerFacts & { known: boolean })[];
    if (!server) throw new Error("The database does not know itself");
    checkServer(server);
    const applied = server.known ? await readApplied(run) : [];
    return { version: server.version, pending: pendingMigrations(migrations, applied).length };
  };
  try {
    return await Promise.race([look(), late]);
  } finally {
    cancel();
    connection.destroy();
  }
}
