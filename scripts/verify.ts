// Runs every check that must pass before a change is merged. Prints a line for each step, the output of failed steps,
// and at the end the totals of the tests on both databases. `--everywhere` takes a third longer, and also runs the
// tests on the embedded database that usually run only on PostgreSQL.
import { spawn } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres, type TestPostgres } from "../tests/real-postgres.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const scratch = inMemory() ?? mkdtempSync(join(tmpdir(), "verify-"));
// The tests' files go there too: each database has a thousand files, and some disks create files slowly.
process.env.TMPDIR = scratch;
// Started by root, PostgreSQL runs as another user, who has to reach its data.
chmodSync(scratch, 0o711);
// Files left in memory would never be found.
process.on("exit", () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const totals = { passed: 0, failed: 0, skipped: 0 };
const failures: string[] = [];

interface Result {
  ok: boolean;
  output: string;
  /** Printed after the step's name. */
  note?: string;
}

/** These steps and the first tests run at the same time, so that no processor waits for the last of them. */
const besideTests = [
  step("format and lint", () => command("biome", ["ci", "--colors=off", "."])),
  step("unused code", () => command("knip", ["--no-progress"])),
  step("types", () => checkTypes("tsconfig.json")),
  step("types of what runs at the edge", () => checkTypes("tsconfig.edge.json")),
];
await step("build", () => command("node", ["scripts/build.ts"]));
besideTests.push(
  step("package", () => command("publint", ["--strict", "--pack=false"])),
  step("docs/configuration.md", () => command("node", ["scripts/document-settings.ts", "--check"])),
  step("docs/plugins.md", () => command("node", ["scripts/document-plugins.ts", "--check"])),
  step("docs/teams.md", () => command("node", ["scripts/document-roles.ts", "--check"])),
  step("openapi/openapi.json", compareDescription),
  step("changes since the release", () => command("node", ["scripts/compare-api.ts"])),
  step("src/client/generated", () => command("node", ["scripts/generate-client.ts", "--check"])),
  step("schema", () => command("node", ["scripts/generate-schemas.ts", "--check"])),
  step("migrations fit the schema", compareMigrations),
);
const server = await startPostgres();
try {
  await step("tests on the embedded database", () => testOnEmbedded(server));
  await step("tests on PostgreSQL", () => testOnPostgres(server));
} finally {
  await server?.stop();
}
await Promise.all(besideTests);

if (failures.length > 0) console.log(`\nNot as it must be: ${failures.join(", ")}`);
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = failures.length > 0 || totals.failed > 0 ? 1 : 0;

/** A folder in memory with enough room for a run, and from which programs may be started; null without one. */
function inMemory(): string | null {
  if (process.env.TMPDIR) return null;
  const shared = "/dev/shm";
  let folder: string | null = null;
  try {
    const { bavail, bsize } = statfsSync(shared);
    if (Math.min(bavail * bsize, process.availableMemory()) < 8e9) return null;
    folder = mkdtempSync(join(shared, "verify-"));
    const program = join(folder, "program");
    writeFileSync(program, "", { mode: 0o700 });
    accessSync(program, constants.X_OK);
    return folder;
  } catch {
    if (folder !== null) rmSync(folder, { recursive: true });
    return null;
  }
}

async function step(name: string, run: () => Promise<Result>): Promise<void> {
  const start = performance.now();
  const { ok, output, note } = await run().catch((error: unknown) => ({ ok: false, output: String(error), note: "" }));
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${ok ? "ok    " : "FAILED"} ${name}${note ? `: ${note}` : ""} (${seconds} s)`);
  if (ok) return;
  failures.push(name);
  console.log(output.trimEnd().replaceAll(/^/gm, "       "));
}

/** Runs a program of the toolchain, which npm has added to the PATH. */
function command(name: string, args: string[], environment: Record<string, string> = {}): Promise<Result> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const child = spawn(name, args, {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", (error) => resolve({ ok: false, output: String(error) }));
    child.on("close", (code) => resolve({ ok: code === 0, output: Buffer.concat(chunks).toString() }));
  });
}

/**
 * Runs the compiler in one thread: each thread computes the same types again, so with other checks in parallel one is
 * faster. The compiler is a Go program and needs a sixth less time when it collects no garbage below 2 GiB.
 */
function checkTypes(project: string): Promise<Result> {
  return command("tsc", ["-p", project, "--noEmit", "--singleThreaded"], { GOGC: "off", GOMEMLIMIT: "2GiB" });
}

async function compareDescription(): Promise<Result> {
  const { ok, output } = await command("node", ["dist/cli.js", "openapi"]);
  if (!ok) return { ok, output };
  const same = readFileSync(join(root, "openapi/openapi.json"), "utf8") === output;
  return { ok: same, output: "openapi/openapi.json differs from the routes; run: npm run generate" };
}

/** Generates migrations into a copy of the folder, which changes only if the migrations lack a part of the schema. */
async function compareMigrations(): Promise<Result> {
  const copy = join(scratch, "drizzle");
  cpSync(join(root, "drizzle"), copy, { recursive: true });
  const config = join(scratch, "drizzle.config.json");
  // The path must be relative, because drizzle-kit puts `./` before it.
  const out = relative(root, copy);
  writeFileSync(config, JSON.stringify({ dialect: "postgresql", schema: "./src/db/schema.ts", out }));
  const checked = await command("drizzle-kit", ["check", `--config=${config}`]);
  if (!checked.ok) return checked;
  const { output } = await command("drizzle-kit", ["generate", `--config=${config}`]);
  // The exit code of `drizzle-kit generate` is 0 even when it fails.
  if (output.includes("No schema changes")) return { ok: true, output };
  const advice = "src/db/schema.ts has changes without a migration: npx drizzle-kit generate --name=what_changes";
  return { ok: false, output: `${advice}\n${output}` };
}

/** The fields of vitest's JSON report that are read here. */
interface Report {
  numPassedTests: number;
  numPendingTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

async function test(name: string, args: string[], environment: Record<string, string>): Promise<Result> {
  const file = join(scratch, `${name}.json`);
  const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${file}`];
  const result = await command("vitest", ["run", ...reporters, ...args], {
    NO_COLOR: "1",
    TEST_BUILT: "1",
    ...environment,
  });
  const { numPassedTests, numPendingTests, testResults } = JSON.parse(readFileSync(file, "utf8")) as Report;
  const reasons = testResults.flatMap(({ name: path, status, message, assertionResults }) => {
    const of = relative(root, path);
    const failed = assertionResults.filter((result) => result.status === "failed");
    // A file that could not be loaded or set up has no failed test, but counts as failed.
    if (status === "failed" && failed.length === 0) return [`${of}\n${message}`];
    return failed.map(({ fullName, failureMessages }) => `${of}: ${fullName}\n${failureMessages.join("\n")}`);
  });
  totals.passed += numPassedTests;
  totals.failed += reasons.length;
  totals.skipped += numPendingTests;
  // Tests that this machine cannot run print a line that begins with SKIPPED.
  const skipped = new Set(result.output.match(/^SKIPPED.*$/gm));
  const note = [`${numPassedTests} passed, ${reasons.length} failed, ${numPendingTests} skipped`, ...skipped].join(
    "; ",
  );
  // The failed tests come first, because the record of a run may contain only its beginning.
  return { ok: result.ok && reasons.length === 0, output: [...reasons, result.output].join("\n\n"), note };
}

/** Runs the suite on the embedded database. Servers whose database is not the subject of a test have PostgreSQL. */
function testOnEmbedded(server: TestPostgres | null): Promise<Result> {
  const all = !server || process.argv.includes("--everywhere");
  return test("embedded", [], {
    ...(all ? {} : { TEST_DIALECT: "pglite" }),
    ...(server ? { TEST_DATABASE_URL: server.url } : {}),
  });
}

/** Runs the suite on PostgreSQL, without the tests that start the built program. */
async function testOnPostgres(server: TestPostgres | null): Promise<Result> {
  if (server)
    return test("postgres", ["--project=engine*"], { TEST_DIALECT: "postgres", TEST_DATABASE_URL: server.url });
  const note = "SKIPPED, no PostgreSQL for this platform; set TEST_DATABASE_URL to run them";
  return { ok: true, output: "", note };
}
