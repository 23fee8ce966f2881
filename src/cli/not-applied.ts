import { command } from "./command-name.ts";

/** Says how to apply the migrations that a database lacks. */
export function notApplied(migrations: number): string {
  const count = `${migrations} ${migrations === 1 ? "migration is" : "migrations are"}`;
  return `${count} not applied: start the server, or run ${command} migrate`;
}
