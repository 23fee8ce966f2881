import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { template } from "../../scripts/make-template.ts";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { superviseDatabase } from "../../src/adapters/node/embedded/thread.ts";
import { openAlone } from "../../src/cli/open-alone.ts";
import { StartError } from "../../src/core/errors.ts";
import { openDatabase } from "../../src/db/client.ts";
import type { Migration } from "../../src/db/migrate.ts";
import { TestClock } from "../clock.ts";
import { collectLog, silent } from "../embedded.ts";
import { skipHere } from "../skip.ts";
import { open, settingsOf, temporaryDirectory } from "./setup.ts";

const threads: Worker[] = vi.hoisted(() => []);
/** While it is set, a thread that is told to end fails, and goes on until the gate opens. */
const held: { gate?: Promise<void>; asked: number } = vi.hoisted(() => ({ asked: 0 }));
vi.mock("node:worker_threads", async (load) => {
  const real = await load<typeof import("node:worker_threads")>();
  class WatchedWorker extends real.Worker {
    constructor(...parameters: ConstructorParameters<typeof Worker>) {
      super(...parameters);
      threads.push(this);
    }
    override async terminate() {
      held.asked += 1;
      if (held.gate) this.emit("error", new Error("late"));
      await held.gate;
      return super.terminate();
    }
  }
  return { ...real, Worker: WatchedWorker };
});

/** Migrations that a release has beyond this one. */
const ofNextRelease: Migration[] = vi.hoisted(() => []);
vi.mock(import("../../src/adapters/node/shipped.ts"), async (load) => {
  const real = await load();
  return { ...real, readMigrations: () => [...real.readMigrations(), ...ofNextRelease] };
});

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 100_000 } } });

const insert = "insert into organizations (id, slug, name) values (gen_random_uuid(), $1, '')";
const slugs = "select slug from organizations order by slug";

/** A directory with a database that holds one row. */
const parent = mkdtempSync(join(tmpdir(), "storage-"));
const made = join(parent, "on", "the", "way");
beforeAll(async () => {
  const { database, close } = await open({ DATA_DIR: made }, await template());
  await database.query(insert, ["first"]);
  await close();
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

function copyOfMade(): string {
  const directory = temporaryDirectory();
  cpSync(made, directory, { recursive: true });
  return directory;
}

/** A process that writes rows into the directory, and what it has acknowledged. */
async function startWriter(directory: string) {
  const script = fileURLToPath(new URL("./writer.ts", import.meta.url));
  const child = spawn(process.execPath, [script, directory], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const acknowledged: string[] = [];
  const lines = createInterface(child.stdout);
  lines.on("line", (line) => acknowledged.push(line));
  await once(lines, "line");
  const kill = async () => {
    child.kill("SIGKILL");
    await once(lines, "close");
  };
  return { acknowledged, kill };
}

const refusal = (directory: string) =>
  open({ DATA_DIR: directory }).then(
    () => null,
    (error: unknown) => error,
  );

test("a fresh directory is made on the way, for its owner alone", () => {
  for (const path of [made, join(made, "pgdata")]) expect(statSync(path).mode & 0o077, path).toBe(0);
});

test("the data survives a restart", async () => {
  const { database, close } = await open({ DATA_DIR: copyOfMade() });
  onTestFinished(close);
  expect(await database.query(slugs, [])).toEqual([{ slug: "first" }]);
});

test("a directory that others can read is closed to them when it is opened", async () => {
  const directory = copyOfMade();
  chmodSync(directory, 0o755);
  const { close } = await open({ DATA_DIR: directory });
  onTestFinished(close);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test("a second process is refused before it touches the data; rows that the first one acknowledges survive kill -9", async () => {
  const directory = copyOfMade();
  const writer = await startWriter(directory);
  const started = threads.length;
  const error = await refusal(directory);
  expect(threads).toHaveLength(started);
  expect(error).toEqual(
    new StartError(`DATA_DIR ${directory} is in use by another agent-engine: stop that one, or set another DATA_DIR`),
  );
  const count = writer.acknowledged.length;
  await expect.poll(() => writer.acknowledged.length).toBeGreaterThan(count + 50);
  await writer.kill();

  const { database, close } = await open({ DATA_DIR: directory });
  onTestFinished(close);
  const stored = new Set((await database.query<{ slug: string }>(slugs, [])).map(({ slug }) => slug));
  expect(writer.acknowledged.filter((slug) => !stored.has(slug))).toEqual([]);
  expect(stored).toContain("first");
});

test("a command leaves the schema of an older release as it is, and the directory to others", async () => {
  ofNextRelease.push({ sql: ["create table next ()"], folderMillis: Date.UTC(2100, 0), hash: "next" });
  onTestFinished(() => void ofNextRelease.pop());
  const environment = { DATA_DIR: copyOfMade() };
  const setup = { environment, settings: settingsOf(environment), log: silent };
  for (let n = 0; n < 2; n += 1) {
    await expect(openAlone(setup)).rejects.toThrow("not up to this release: 1 migration is not applied");
  }
  await (await open(environment)).close();
  const opened = await openAlone(setup);
  await opened.engine.stop(0);
  await opened.close();
});

test("the same process is refused too, until the first one is closed", async () => {
  const directory = copyOfMade();
  const first = await open({ DATA_DIR: directory });
  expect(await refusal(directory)).toBeInstanceOf(StartError);
  await first.close();
  const second = await open({ DATA_DIR: directory });
  await second.close();
});

describe("a directory that can't be used is one clear line", () => {
  const advice = "set DATA_DIR to a directory that can be written to";

  test.each(["lies under a file", "is a file"])("it %s", async (reason) => {
    const file = join(temporaryDirectory(), "file");
    writeFileSync(file, "");
    const error = await refusal(reason === "is a file" ? file : join(file, "data"));
    expect(error).toBeInstanceOf(StartError);
    expect(String(error)).toContain(`${reason}: ${advice}`);
  });

  test.each(["", "data"])("it is read-only, %j", async (name) => {
    const directory = temporaryDirectory();
    chmodSync(directory, 0o555);
    const error = await withoutPrivileges(() => refusal(join(directory, name)));
    expect(error).toBeInstanceOf(StartError);
    expect(String(error)).toContain(`may not be written to by this user: ${advice}`);
  });

  test.each([
    join("global", "pg_control"),
    "",
  ])("pgdata/%s is another user's, as after a command of root", async (name) => {
    const directory = copyOfMade();
    const path = join(directory, "pgdata", name);
    const user = process.geteuid?.() || 65_534;
    if (process.geteuid?.() === 0) {
      for (const one of [".", ...readdirSync(directory, { recursive: true, encoding: "utf8" })]) {
        chownSync(join(directory, one), user, user);
      }
    }
    const { mode } = statSync(path);
    chmodSync(path, 0);
    const error = await withoutPrivileges(() => refusal(directory));
    chmodSync(path, mode);
    expect(error).toEqual(
      expect.objectContaining({
        name: "StartError",
        message: `DATA_DIR can't be used, ${path} may not be written to by this user: run chown -R ${user} ${directory} as root`,
      }),
    );
  });
});

/** Permissions bind nobody but root. */
async function withoutPrivileges<T>(act: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return act();
  process.seteuid?.(65_534);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
  }
}

describe("a damaged database is one clear line, and nothing of it is touched", () => {
  test.each<[string, (data: string) => void]>([
    ["PG_VERSION is missing", (data) => rmSync(join(data, "PG_VERSION"))],
    ["pg_control is missing", (data) => rmSync(join(data, "global", "pg_control"))],
    ["pg_control is empty", (data) => writeFileSync(join(data, "global", "pg_control"), Buffer.alloc(8192))],
    ["the tables are missing", (data) => rmSync(join(data, "base"), { recursive: true })],
    ["it is of another version", (data) => writeFileSync(join(data, "PG_VERSION"), "9\n")],
  ])("%s", async (_name, damage) => {
    const directory = copyOfMade();
    const data = join(directory, "pgdata");
    damage(data);
    const error = await refusal(directory);
    expect(error).toBeInstanceOf(StartError);
    expect(String(error)).toMatch(/does not open \([^\n]+\): restore it from a backup, or move it away/);
    expect(existsSync(join(data, "pg_wal"))).toBe(true);
  });
});

test("a first start that was cut off is made again, without a template too", async () => {
  const directory = copyOfMade();
  writeFileSync(join(directory, "pgdata.unfinished"), "");
  rmSync(join(directory, "pgdata", "global"), { recursive: true });
  const { database, close } = await open({ DATA_DIR: directory });
  expect(await database.query(slugs, [])).toEqual([]);
  await close();
  expect(existsSync(join(directory, "pgdata.unfinished"))).toBe(false);
});

test("a thread that dies is logged and started again; its statements are unavailable meanwhile", async () => {
  const { log, lines } = collectLog();
  const directory = join(temporaryDirectory(), "pgdata");
  const embedded = await superviseDatabase({ directory, template: await template() }, log);
  const database = openDatabase(embedded.target, { max: 1, prepare: true, deadlineMs: 10_000, clock: systemClock });
  onTestFinished(async () => {
    await database.close();
    await embedded.close();
  });
  await database.query(insert, ["before"]);
  const slow = database.query("select count(*) from generate_series(1, 30000000)", []);
  const failed = expect(slow).rejects.toMatchObject({ code: "unavailable", status: 503 });
  await threads.at(-1)?.terminate();
  await failed;

  const again = () => database.query(slugs, []).catch(() => null);
  await expect.poll(again).toEqual([{ slug: "before" }]);
  expect(lines).toContain("The embedded database stopped and is started again");
});

describe("a database that does not start again", () => {
  async function supervised() {
    const clock = new TestClock();
    const { log, lines } = collectLog();
    const directory = join(temporaryDirectory(), "pgdata");
    const embedded = await superviseDatabase({ directory, template: await template() }, log, clock);
    const database = openDatabase(embedded.target, { max: 1, prepare: true, deadlineMs: 10_000, clock: systemClock });
    onTestFinished(async () => {
      await database.close();
      await embedded.close();
    });
    await database.query(insert, ["before"]);
    const away = `${directory}.away`;
    const kill = async () => {
      const dying = threads.at(-1);
      await dying?.terminate();
    };
    const failures = () => lines.filter((line) => line.includes("does not start")).length;
    return { clock, lines, directory, away, database, kill, failures, close: () => embedded.close() };
  }

  test("is tried again until it does; requests fail at once meanwhile, and the log says each change once", async () => {
    const { clock, lines, directory, away, database, kill, failures } = await supervised();
    renameSync(directory, away);
    await kill();
    await expect.poll(failures).toBe(1);
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const started = threads.length;
      const begun = performance.now();
      await expect(database.query(slugs, [])).rejects.toMatchObject({ code: "unavailable", status: 503 });
      expect(performance.now() - begun).toBeLessThan(3000);
      await clock.advance(15_000);
      await expect.poll(() => threads.length).toBe(started + 1);
      const thread = threads.at(-1);
      await expect.poll(() => thread?.threadId).toBe(-1);
    }
    // Nothing was made in place of the database that is gone.
    expect(existsSync(join(directory, "PG_VERSION"))).toBe(false);
    rmSync(directory, { recursive: true, force: true });
    renameSync(away, directory);
    const again = async () => {
      await clock.advance(15_000);
      return database.query(slugs, []).catch(() => null);
    };
    await expect.poll(again).toEqual([{ slug: "before" }]);
    expect(failures()).toBe(1);
    expect(lines.at(-1)).toBe("The embedded database works again");
  });

  test("nor does one that dies again and again go around in circles", async () => {
    const { clock, database, kill, lines } = await supervised();
    const restarts = () => lines.filter((line) => line === "The embedded database works again").length;
    await kill();
    await expect.poll(restarts).toBe(1);
    await kill();
    const started = threads.length;
    await expect(database.query(slugs, [])).rejects.toMatchObject({ code: "unavailable" });
    expect(threads).toHaveLength(started);
    await clock.advance(250);
    await expect.poll(restarts).toBe(2);
    expect(await database.query(slugs, [])).toEqual([{ slug: "before" }]);
  });

  test("is awaited until its thread has ended, whatever that one throws meanwhile", async () => {
    const { clock, directory, away, kill, failures } = await supervised();
    renameSync(directory, away);
    await kill();
    const { promise, resolve } = Promise.withResolvers<void>();
    onTestFinished(() => {
      delete held.gate;
      resolve();
    });
    Object.assign(held, { gate: promise, asked: 0 });
    await expect.poll(() => held.asked).toBe(1);
    const started = threads.length;
    await clock.advance(15_000);
    expect([failures(), threads.length]).toEqual([0, started]);
    resolve();
    await expect.poll(failures).toBe(1);
  });

  test("is not waited for at a stop", async () => {
    const { clock, directory, away, kill, failures, close } = await supervised();
    renameSync(directory, away);
    await kill();
    await expect.poll(failures).toBe(1);
    await close();
    const started = threads.length;
    await clock.advance(60_000);
    expect(threads).toHaveLength(started);
  });
});

/** A small disk of its own, where this machine lets the test have one. */
function smallDisk(megabytes: number): string | null {
  const disk = temporaryDirectory();
  const made = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", disk]);
  if (made.status !== 0) return null;
  onTestFinished(() => void spawnSync("umount", ["-l", disk]));
  return disk;
}

test("a first start on a full disk says so in one sentence, and works when there is space", async (context) => {
  const disk = smallDisk(60);
  if (!disk) return skipHere(context, "this machine mounts no disk for a test");
  const ballast = join(disk, "ballast");
  writeFileSync(ballast, Buffer.alloc(57_000_000));
  const DATA_DIR = join(disk, "data");
  const start = () => open({ DATA_DIR }, makeTemplate);
  const makeTemplate = await template();
  await expect(start()).rejects.toEqual(
    new StartError(`The disk of DATA_DIR ${DATA_DIR} is full (ENOSPC): free some space and start again`),
  );
  rmSync(ballast);
  const { database, close } = await start();
  expect(await database.query(slugs, [])).toEqual([]);
  await close();
});

test("a start on a full disk says so where the database is there already", async (context) => {
  const disk = smallDisk(60);
  if (!disk) return skipHere(context, "this machine mounts no disk for a test");
  const DATA_DIR = join(disk, "data");
  const makeTemplate = await template();
  await (await open({ DATA_DIR }, makeTemplate)).close();
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, "ballast"), Buffer.alloc(bavail * bsize));
  await expect(open({ DATA_DIR }, makeTemplate)).rejects.toThrow(/^The disk of DATA_DIR .* is full \(ENOSPC\)/);
});

describe("a client that follows another one", () => {
  async function inMemory() {
    const clock = new TestClock();
    const embedded = await superviseDatabase({ directory: null, template: await template() }, collectLog().log);
    const connect = () => openDatabase(embedded.target, { max: 1, prepare: true, deadlineMs: 1000, clock });
    onTestFinished(() => embedded.close());
    return { clock, connect };
  }

  test("finds a fresh session", async () => {
    const { connect } = await inMemory();
    const first = connect();
    await first.query("set timezone = 'Asia/Tokyo'", []);
    await first.query(insert, ["kept"]);
    await first.close();
    const second = connect();
    expect(await second.query("show timezone", [])).toEqual([{ TimeZone: "UTC" }]);
    expect(await second.query("select name from pg_prepared_statements", [])).toEqual([]);
    expect(await second.query(slugs, [])).toEqual([{ slug: "kept" }]);
    await second.close();
  });

  test("waits for what the first one left running, and is not in its transaction", async () => {
    const { clock, connect } = await inMemory();
    const database = connect();
    const late = database.transaction(async (tx) => {
      await tx.execute(sql.raw(insert.replace("$1", "'undone'")));
      const slow = tx.execute(sql`select count(*) from generate_series(1, 300000)`).then(
        () => "done",
        (error: unknown) => error,
      );
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(1000);
      throw await slow;
    });
    await expect(late).rejects.toMatchObject({ code: "unavailable" });
    expect(await database.query(slugs, [])).toEqual([]);
    await database.close();
  });
});

test("the event loop goes on while the database works", async () => {
  const { database, close } = await open({ DATA_DIR: copyOfMade() });
  onTestFinished(close);
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 5);
  await database.query("select count(*) from generate_series(1, 1000000)", []);
  clearInterval(timer);
  // On this thread there would be one or two, before and behind the statement.
  expect(ticks).toBeGreaterThan(5);
});

test("an unusable lock file is one clear line", async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "lock"), "not what it should be ".repeat(100));
  expect(String(await refusal(directory))).toContain(`can't be locked: delete the file ${join(directory, "lock")}`);
  expect(readFileSync(join(directory, "lock"), "utf8")).toContain("not what");
});

test("what parses SQL and what copies its parts is never compiled for speed, which takes 600 and 40 MB", () => {
  const script = fileURLToPath(new URL("./parsing.ts", import.meta.url));
  const flags = ["--trace-wasm-compilation-times", "--wasm-sync-tier-up"];
  const { stdout } = spawnSync(process.execPath, [...flags, script, join(copyOfMade(), "pgdata")], {
    encoding: "utf8",
  });
  const bytes = (compiler: string) =>
    Array.from(stdout.matchAll(new RegExp(`using ${compiler}, took \\d+ ms and (\\d+)`, "g")), ([, size]) =>
      Number(size),
    );
  expect(Math.max(...bytes("Liftoff"))).toBeGreaterThan(5_000_000);
  expect(bytes("TurboFan").length).toBeGreaterThan(0);
  expect(Math.max(...bytes("TurboFan"))).toBeLessThan(30_000_000);
});
