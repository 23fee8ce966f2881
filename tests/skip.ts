import { existsSync } from "node:fs";
import type { TestContext } from "vitest";

/** Skips a test that this machine can't run, and prints the reason, which `npm test` repeats at its end. */
export function skipHere({ skip }: Pick<TestContext, "skip">, reason: string): never {
  console.warn(`SKIPPED: ${reason}`);
  return skip(reason);
}

/** Skips a test on a machine without one of these programs. */
export function needPrograms(context: Pick<TestContext, "skip">, ...programs: string[]): void {
  for (const program of programs) if (!existsSync(program)) skipHere(context, `there is no ${program}`);
}
