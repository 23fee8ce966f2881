import { command } from "./command-name.ts";

/** What to do about a database that lacks migrations of this release. */
export function notApplied(migrations: number): string {
  const count = `${migrations} ${migrations === 1 ? "migration is" : "migrations are"}`;
  return `${count} not applied: start the server, or run ${command} migrate`;
}
