import type { Environment } from "../core/config.ts";

/** The command that started this program, from the variables that npm sets for its children. */
export function commandName({ npm_lifecycle_event: event, npm_lifecycle_script: script }: Environment): string {
  const byNpx = event === "npx" && script?.includes("agent-engine");
  // npm scripts in a checkout do not put the program on the PATH.
  return byNpx || event === "start" || event === "quickstart" ? "npx agent-engine" : "agent-engine";
}

/** The name of this program in hints, as it was started. */
export let command = "agent-engine";

export function nameCommand(environment: Environment): void {
  command = commandName(environment);
}

/** Says how to apply the missing migrations. */
export function notApplied(migrations: number): string {
  const count = `${migrations} ${migrations === 1 ? "migration is" : "migrations are"}`;
  return `${count} not applied: start the server, or run ${command} migrate`;
}
