import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** What these are about is the same on every database, or they bring their own: a second run would only repeat them. */
const withoutDatabase = [
  "tests/{adapters,cli,client,core,crash,node,turn}/**",
  "tests/architecture.test.ts",
  "tests/storage/embedded.test.ts",
];

/** Nothing here is slow; a machine that is shared may be. */
const patience = (limitMs: number) => ({
  testTimeout: limitMs,
  hookTimeout: limitMs,
  expect: { poll: { timeout: 15_000 } },
});

export default defineConfig({
  test: {
    // One for each core: vitest itself has next to nothing to do, and would keep one for that.
    maxWorkers: availableParallelism(),
    projects: [
      {
        test: {
          name: "engine",
          include: ["tests/**/*.test.ts"],
          exclude: [
            "tests/{runtime,browser,package}/**",
            ...(process.env.TEST_DIALECT === "postgres" ? withoutDatabase : []),
          ],
          globalSetup: ["tests/setup.ts"],
          setupFiles: ["tests/seed.ts"],
          ...patience(60_000),
        },
      },
      {
        // Tests of the built program, as its users start it.
        test: {
          name: "runtime",
          include: ["tests/{runtime,browser,package}/**/*.test.ts"],
          globalSetup: ["tests/runtime/build.ts"],
          ...patience(120_000),
        },
      },
    ],
  },
});
