import type { TestContext } from "vitest";

/** Skips a test that this machine can't run, and prints the reason, which `npm test` repeats at its end. */
export function skipHere({ skip }: Pick<TestContext, "skip">, reason: string): never {
  console.warn(`SKIPPED: ${reason}`);
  return skip(reason);
}
