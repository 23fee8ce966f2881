import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const ofPrograms = "tests/{runtime,browser,package,faults}/**";

/** What these are about is the same on every database, or they bring their own: a second run would only repeat them. */
const withoutDatabase = [
  "tests/{adapters,cli,client,core,crash,node,panel,plugins,scripts,turn}/**",
  "tests/{architecture,markdown}.test.ts",
  "tests/jobs/postgres.test.ts",
  "tests/storage/{checkpoints,embedded,inspect,pgbouncer,postgres,role-settings,template,vacuum}.test.ts",
];

/**
 * These send both databases the same statements, so that one run is enough: on PostgreSQL, where statements really run at
 * once and the contract's many thousand requests take half as long. Programs, and what has the database for its subject,
 * run on the embedded one.
 */
const onPostgres = [
  "tests/{contract,features}/**",
  "tests/http/!(ready)*",
  "tests/storage/{message-words,subjects}.test.ts",
];

/** Unset, everything runs on the embedded database; `pglite` leaves out what a run on `postgres` brings. */
const elsewhere: Record<string, string[]> = { pglite: onPostgres, postgres: withoutDatabase };

/** Those that put something else in the place of a module need the modules for themselves. */
const mocking = globSync("tests/**/*.test.ts").filter((file) =>
  /\bvi\.(?:doM|m)ock\(/.test(readFileSync(file, "utf8")),
);

/** Memory that is given back is taken anew page by page, which was a twelfth of the time where a page fault is dear. */
const youngMb = 32;
Object.assign(process.env, { MALLOC_TRIM_THRESHOLD_: "268435456", MALLOC_MMAP_THRESHOLD_: "268435456" });

/** Nothing here is slow; a machine that is shared may be. */
const patience = (limitMs: number) => ({
  testTimeout: limitMs,
  hookTimeout: limitMs,
  expect: { poll: { timeout: 45_000 } },
});

/** Entries of Drizzle, and the files that they are bundled into. */
const drizzle = { "drizzle-orm": "index", "drizzle-orm/pg-core": "pg-core", "drizzle-orm/postgres-js": "postgres-js" };

/**
 * Bundles Drizzle, and leads to the files. Node reads a package's manifest for each of its modules: Drizzle has a hundred
 * of them and a manifest of 180 KB, which took each worker more than a second.
 */
function bundleDrizzle() {
  const folder = fileURLToPath(new URL("node_modules/.cache/agent-engine/drizzle", import.meta.url));
  buildSync({
    entryPoints: Object.entries(drizzle).map(([name, out]) => ({ in: name, out })),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    external: ["postgres"],
  });
  return Object.entries(drizzle).map(([name, out]) => ({
    find: new RegExp(`^${name}$`),
    replacement: join(folder, `${out}.mjs`),
  }));
}

const alias = bundleDrizzle();

/** The engine in this process. Files share its modules: loading them takes as long as what most files do with them. */
const engine = (name: string, files: { include: string[]; exclude?: string[]; isolate: boolean }) => ({
  test: {
    ...files,
    name,
    exclude: [ofPrograms, ...(elsewhere[process.env.TEST_DIALECT ?? ""] ?? []), ...(files.exclude ?? [])],
    globalSetup: ["tests/setup.ts"],
    setupFiles: ["tests/seed.ts", "tests/patience.ts", "tests/young-memory.ts"],
    restoreMocks: true,
    alias,
    execArgv: [`--min-semi-space-size=${youngMb}`, `--max-semi-space-size=${youngMb}`],
    ...patience(120_000),
  },
});

/** Tests of the built program, as its users start it. Files share the modules, and with them a browser. */
const programs = (name: string, folder: string) => ({
  test: {
    name,
    isolate: false,
    include: [`${folder}/**/*.test.ts`],
    globalSetup: ["tests/runtime/build.ts"],
    alias,
    ...patience(240_000),
  },
});

/** Larger files begin first. This one is small and takes long: as the last one, it would run alone. */
const long = /\/features\/tasks\/year\.test\.ts$/;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => Number(long.test(other.moduleId)) - Number(long.test(one.moduleId)));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    // One more than there are cores, since each waits a third of its time: for its database, or for what it started.
    maxWorkers: availableParallelism() + 1,
    projects: [
      engine("engine", { include: ["tests/**/*.test.ts"], exclude: mocking, isolate: false }),
      engine("engine-mocked", { include: mocking, isolate: true }),
      // Files of a project run before those of the next one by name: what waits most begins before the end.
      programs("faults", "tests/faults"),
      programs("runtime", "tests/{runtime,browser,package}"),
    ],
  },
});
