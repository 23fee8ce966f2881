import type { Environment } from "../core/config.ts";

/** The command that started this program, from the variables that npm sets for its children. */
export function commandName({ npm_lifecycle_event: event, npm_lifecycle_script: script }: Environment): string {
  const byNpx = event === "npx" && script?.includes("agent-engine");
  // A script of the checkout, where nothing else puts the program on the PATH.
  return byNpx || event === "start" || event === "quickstart" ? "npx agent-engine" : "agent-engine";
}

/** The name in the hints of this process, which was called in one way. */
export let command = "agent-engine";

export function nameCommand(environment: Environment): void {
  command = commandName(environment);
}

/** Says how to apply the migrations that a database lacks. */
export function notApplied(migrations: number): string {
  const count = `${migrations} ${migrations === 1 ? "migration is" : "migrations are"}`;
  return `${count} not applied: start the server, or run ${command} migrate`;
}
