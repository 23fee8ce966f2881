import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "engine",
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/runtime/**"],
          globalSetup: ["tests/setup.ts"],
        },
      },
      {
        // Tests of the built program, as its users start it.
        test: {
          name: "runtime",
          include: ["tests/runtime/**/*.test.ts"],
          globalSetup: ["tests/runtime/build.ts"],
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
    ],
  },
});
