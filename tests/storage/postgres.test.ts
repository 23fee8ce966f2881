import { connect, createServer, type Socket } from "node:net";
import { sql } from "drizzle-orm";
import postgres from "postgres";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { readMigrations } from "../../src/adapters/node/shipped.ts";
import { openAlone } from "../../src/cli/open-alone.ts";
import { StartError } from "../../src/core/errors.ts";
import type { Database } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import type { PoolOptions } from "../../src/db/pool/pool.ts";
import { organizations } from "../../src/db/schema.ts";
import { TestClock } from "../clock.ts";
import { silent } from "../embedded.ts";
import { freshDatabase, poolOn } from "../fresh-database.ts";
import { startThrowaway, withDatabase } from "../real-postgres.ts";
import { knowNoNames } from "../unknown-names.ts";
import { open, settingsOf } from "./setup.ts";

/** Of this file alone, since it is stopped and its sessions are killed. */
const server = await startThrowaway();
afterAll(() => server?.stop());
const url = server?.url ?? "";

async function emptyDatabase(): Promise<string> {
  const name = `empty_${crypto.randomUUID().replaceAll("-", "")}`;
  await asAdmin((admin) => admin.unsafe(`create database ${name}`));
  return withDatabase(url, name);
}

async function asAdmin<T>(work: (admin: postgres.Sql) => Promise<T>): Promise<T> {
  const admin = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await work(admin);
  } finally {
    await admin.end({ timeout: 1 });
  }
}

/** Something that is no PostgreSQL, on a port of its own. */
async function listen(answer: (socket: Socket) => void): Promise<number> {
  const other = createServer((socket) => {
    socket.on("error", () => {});
    answer(socket);
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const bound = other.address();
  return typeof bound === "object" && bound ? bound.port : 0;
}

/** A fresh database with the schema, and a pool on it. */
async function pool(options: Partial<PoolOptions> = {}): Promise<Database> {
  return poolOn({ url: await freshDatabase(server) }, { max: 2, deadlineMs: 5_000, ...options });
}

const pid = async ({ query }: Database) =>
  (await query<{ pid: number }>("select pg_backend_pid() as pid", []))[0]?.pid ?? 0;
const insert = "insert into organizations (id, slug, name) values (gen_random_uuid(), $1, '')";
/** What the work comes to; the clock goes on until then. */
async function passing<T>(clock: TestClock, work: Promise<T>): Promise<T> {
  let over = false;
  const ended = work.finally(() => {
    over = true;
  });
  while (!over) await clock.advance(1000);
  return ended;
}
const unavailable = { code: "unavailable", status: 503 };

/** The server behind a way on which nothing passes while it is frozen, though connections are accepted. */
async function freezable() {
  const ends: [Socket, Socket][] = [];
  let frozen = false;
  const port = await listen((socket) => {
    const upstream = connect(Number(new URL(url).port), "127.0.0.1");
    upstream.on("error", () => {});
    socket.once("close", () => upstream.destroy());
    ends.push([socket, upstream]);
    if (!frozen) socket.pipe(upstream).pipe(socket);
  });
  const freeze = () => {
    frozen = true;
    for (const [one, other] of ends) {
      one.unpipe(other).pause();
      other.unpipe(one).pause();
    }
  };
  /** Lets pass again; "new": what later connections bring alone. */
  const thaw = (which: "all" | "new" = "all") => {
    frozen = false;
    if (which === "all") for (const [one, other] of ends) one.pipe(other).pipe(one);
  };
  return { port, freeze, thaw };
}

describe.skipIf(!server)("a server that accepts connections and says nothing", () => {
  test("costs the callers after the first three seconds each, and none once it goes on", async () => {
    const clock = new TestClock();
    const address = await freshDatabase(server);
    const { port, freeze, thaw } = await freezable();
    const target = { url: address.replace(/:\d+\//, `:${port}/`) };
    const database = poolOn(target, { max: 2, deadlineMs: 15_000, clock });
    await database.query(insert, ["before"]);
    freeze();
    const first = Promise.allSettled([1, 2].map(() => database.query("select 1", [])));
    await clock.advance(5_000);
    for (const ask of [
      () => database.query("select 2", []),
      () => database.transaction((tx) => tx.execute(sql`select 3`)),
      () => Promise.all([1, 2, 3].map(() => database.db.select().from(organizations))),
    ]) {
      const start = clock.now();
      const refused = expect(ask()).rejects.toMatchObject({
        ...unavailable,
        message: "The database did not answer in time",
      });
      // Drizzle's statements begin a moment later.
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(3_000);
      await refused;
      expect(clock.now() - start).toBe(3_000);
    }
    thaw();
    // The clock stands still: the next caller's probe is answered.
    expect(await database.query("select slug from organizations", [])).toEqual([{ slug: "before" }]);
    expect(await database.transaction((tx) => tx.execute(sql`select 1 as one`))).toEqual([{ one: 1 }]);
    await first;
  });

  test("is not suspected for one slow statement: the others are answered meanwhile", async () => {
    const clock = new TestClock();
    const database = await pool({ max: 2, deadlineMs: 15_000, clock });
    const slow = database.query("select pg_sleep(1)", []);
    await clock.advance(2_500);
    expect(await database.query("select 1 as one", [])).toEqual([{ one: 1 }]);
    await slow;
  });

  test("is not told apart from one that is gone, which is refused at once", async () => {
    const clock = new TestClock();
    const port = await listen((socket) => void socket.resetAndDestroy());
    const target = { url: `postgres://postgres@127.0.0.1:${port}/postgres` };
    const database = poolOn(target, { max: 1, deadlineMs: 15_000, clock });
    for (let n = 0; n < 3; n += 1) await expect(database.query("select 1", [])).rejects.toMatchObject(unavailable);
    expect(clock.now()).toBe(new TestClock().now());
  });
});

describe.skipIf(!server)("a server that takes no writes", () => {
  /** The database at `address` takes no writes, and its sessions end. */
  const setReadOnly = (address: string, value: "on" | "off") =>
    asAdmin(async (admin) => {
      const name = new URL(address).pathname.slice(1);
      await admin.unsafe(`alter database ${name} set default_transaction_read_only = ${value}`);
      if (value === "on")
        await admin`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${name}`;
    });

  test("is left by all connections, refuses at once, and is used again by the next statement after that", async () => {
    const address = await freshDatabase(server);
    const database = poolOn({ url: address }, { max: 3, deadlineMs: 15_000 });
    await database.query(insert, ["before"]);
    await setReadOnly(address, "on");
    for (const text of ["select 1", "select 2", "select 3"]) {
      await expect
        .poll(() => database.query(text, []).catch((error: unknown) => error))
        .toMatchObject({
          ...unavailable,
          cause: { code: "25006" },
        });
    }
    expect(database.isUsable()).toBe(false);
    await setReadOnly(address, "off");
    const slugs = await Promise.all(
      ["a", "b", "c", "d"].map((slug) => database.query(`${insert} returning slug`, [slug])),
    );
    expect(slugs.flat()).toHaveLength(4);
    expect(database.isUsable()).toBe(true);
  });

  test("is left when it stops taking them while connections are open", async () => {
    const address = await freshDatabase(server);
    const database = poolOn({ url: address }, { max: 2, deadlineMs: 15_000 });
    const first = await pid(database);
    await database.query("set default_transaction_read_only = on", []);
    await expect(database.query(insert, ["refused"])).rejects.toMatchObject(unavailable);
    await database.query(insert, ["taken"]);
    expect(await pid(database)).not.toBe(first);
    expect(database.use().lost.read_only).toBe(1);
  });

  test("is passed over where the address names another one, as is one that says nothing for a quarter of a second", async () => {
    const address = new URL(await freshDatabase(server));
    const standby = await startThrowaway();
    onTestFinished(() => standby?.stop());
    const other = postgres(standby?.url ?? "", { max: 1 });
    await other.unsafe(`create database ${address.pathname.slice(1)}`);
    await other.unsafe("alter system set default_transaction_read_only = on");
    await other`select pg_reload_conf()`;
    await other.end();
    const silent = await listen(() => {});
    for (const first of [new URL(standby?.url ?? "").host, `127.0.0.1:${silent}`]) {
      const clock = new TestClock();
      const url = address.href.replace(`@${address.host}`, `@${first},${address.host}`);
      const database = poolOn({ url }, { max: 1, deadlineMs: 15_000, clock });
      const asked = database.query(`${insert} returning slug`, [first]);
      await clock.advance(first.endsWith(`:${silent}`) ? 250 : 0);
      expect(await asked).toEqual([{ slug: first }]);
    }
  });
});

describe.skipIf(!server)("a connection whose other end is silent", () => {
  test("is lost within five seconds, though the address leads to a server that answers", async () => {
    const clock = new TestClock();
    const address = await freshDatabase(server);
    const { port, freeze, thaw } = await freezable();
    const database = poolOn({ url: address.replace(/:\d+\//, `:${port}/`) }, { max: 2, deadlineMs: 15_000, clock });
    await database.query("select 1", []);
    freeze();
    const lost = expect(database.query("select 2", [])).rejects.toMatchObject(unavailable);
    thaw("new");
    await clock.advance(1_500);
    await expect.poll(() => clock.waiting(200)).toBe(true);
    await clock.advance(200);
    await lost;
    expect(await database.query("select 3 as three", [])).toEqual([{ three: 3 }]);
    expect(database.use().lost.silent).toBe(1);
  });

  test("is told from one whose statement the server works on", async () => {
    const clock = new TestClock();
    const database = await pool({ max: 2, deadlineMs: 15_000, clock });
    await database.query("select 1", []);
    const slow = database.query<{ done: number }>("select 1 as done from pg_sleep(1.5)", []);
    await clock.advance(1_500);
    await expect.poll(() => clock.waiting(3_000)).toBe(false);
    await clock.advance(200);
    expect(await slow).toEqual([{ done: 1 }]);
    expect(database.use().lost.silent).toBe(0);
  });

  test("is not kept for ever: a connection is replaced after half an hour", async () => {
    const clock = new TestClock();
    const database = await pool({ max: 1, clock });
    const first = await pid(database);
    await clock.jump(34 * 60_000);
    expect(await pid(database)).not.toBe(first);
    expect(Object.values(database.use().lost)).toEqual([0, 0, 0, 0]);
  });
});

describe.skipIf(!server)("a statement's deadline", () => {
  test("the server ends what takes too long, and the connection stays", async () => {
    const database = await pool({ max: 1, deadlineMs: 2000 });
    const before = await pid(database);
    await expect(database.query("select pg_sleep(5)", [])).rejects.toMatchObject(unavailable);
    expect(await pid(database)).toBe(before);
  });

  test("a hung server answers unavailable in time, and all is well when it goes on", async () => {
    const clock = new TestClock();
    const database = await pool({ max: 3, clock });
    await database.query(insert, ["before"]);
    const sessions = await asAdmin(
      (admin) => admin<{ pid: number }[]>`select pid from pg_stat_activity where backend_type = 'client backend'`,
    );
    const stopped = [server?.pid ?? 0, ...sessions.map((session) => session.pid)];
    const signal = (name: NodeJS.Signals) => {
      for (const id of stopped) {
        try {
          process.kill(id, name);
        } catch {
          // The session of the question itself is gone.
        }
      }
    };
    signal("SIGSTOP");
    const start = clock.now();
    const all = Promise.allSettled([
      database.query("select 1", []),
      database.db.select().from(organizations),
      database.transaction((tx) => tx.execute(sql`select 1`)),
      database.query("select 2", []),
      database.query("select 3", []),
    ]);
    // Those that waited for a connection open one of their own, and wait for that.
    const hung = await passing(clock, all).finally(() => signal("SIGCONT"));
    expect(clock.now() - start).toBeLessThanOrEqual(10_000);
    for (const outcome of hung) expect(outcome).toMatchObject({ status: "rejected", reason: unavailable });

    expect(await database.query("select slug from organizations", [])).toEqual([{ slug: "before" }]);
    await database.transaction((tx) => tx.execute(sql`update organizations set name = 'after'`));
    expect(await database.db.select({ name: organizations.name }).from(organizations)).toEqual([{ name: "after" }]);
  });

  test("a hung session is left for a new one", async () => {
    const clock = new TestClock();
    const database = await pool({ max: 1, clock });
    const id = await pid(database);
    process.kill(id, "SIGSTOP");
    onTestFinished(() => void process.kill(id, "SIGCONT"));
    const hung = expect(database.query("select 1", [])).rejects.toMatchObject(unavailable);
    await clock.advance(5000);
    await hung;
    expect(await pid(database)).not.toBe(id);
  });

  test("one that waits for a lock costs no other statement", async () => {
    const clock = new TestClock();
    // The server ends it: a connection that is let go of would leave it behind, to be carried out after all.
    const database = await pool({ max: 3, deadlineMs: 3_000, clock });
    await database.query(insert, ["locked"]);
    await Promise.all([1, 2, 3].map(() => database.query("select pg_sleep(0.05)", [])));
    await database.transaction(async (tx) => {
      await tx.execute(sql`update organizations set name = 'mine'`);
      const blocked = expect(database.query("update organizations set name = 'theirs'", [])).rejects.toMatchObject(
        unavailable,
      );
      let over = false;
      void blocked.finally(() => {
        over = true;
      });
      const locked = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await expect.poll(() => database.query(locked, [])).toHaveLength(1);
      await clock.advance(1000);
      const others = Array.from({ length: 30 }, () => database.query("select 1 as one", []));
      for (const rows of await Promise.all(others)) expect(rows).toEqual([{ one: 1 }]);
      expect(over).toBe(false);
      await blocked;
    });
    expect(await database.query("select name from organizations", [])).toEqual([{ name: "mine" }]);
  });

  test("waiting for a connection has one too", async () => {
    const clock = new TestClock();
    const database = await pool({ max: 1, clock });
    await database.transaction(async (tx) => {
      const waits = expect(database.query("select 1", [])).rejects.toMatchObject(unavailable);
      await clock.advance(5000);
      await waits;
      await tx.execute(sql`select 1`);
    });
    expect(await database.query("select 1 as one", [])).toEqual([{ one: 1 }]);
  });
});

describe.skipIf(!server)("brief statements", () => {
  const mine = "select pg_backend_pid() as pid";
  const brief = async ({ query }: Database, text = mine) => (await query<{ pid: number }>(text, [], true))[0]?.pid;
  const times = <T>(count: number, work: () => T) => Array.from({ length: count }).map(work);

  /** A pool whose connections are open. */
  async function opened(max: number, options: Partial<PoolOptions> = {}): Promise<Database> {
    const database = await pool({ max, clock: new TestClock(), ...options });
    await Promise.all(times(max, () => database.query("select pg_sleep(0.05)", [])));
    return database;
  }

  test("that come together share a connection, at most four of them", async () => {
    const database = await opened(3);
    const pids = await Promise.all(times(9, () => brief(database)));
    const [first, fifth, ninth] = [pids[0], pids[4], pids[8]];
    expect(pids).toEqual([...times(4, () => first), ...times(4, () => fifth), ninth]);
    expect(new Set(pids).size).toBe(3);
  });

  test("are spread where all connections have their share", async () => {
    const database = await opened(2);
    const pids = await Promise.all(times(12, () => brief(database)));
    const counts = [...new Set(pids)].map((each) => pids.filter((other) => other === each).length);
    expect(counts).toEqual([6, 6]);
  });

  test("are not sent behind a statement of another kind while a connection is idle", async () => {
    const database = await opened(2);
    const lengthy = database.query<{ pid: number }>(`${mine}, pg_sleep(0.1)`, []);
    const pids = await Promise.all(times(3, () => brief(database)));
    expect(new Set(pids).size).toBe(1);
    expect(pids[0]).not.toBe((await lengthy)[0]?.pid);
    expect(await brief(database)).toBe((await lengthy)[0]?.pid);
  });

  test("and statements of other kinds keep to themselves", async () => {
    const database = await opened(2);
    const first = brief(database);
    expect(await pid(database)).not.toBe(await first);
  });

  test("are not sent behind one that is late while a connection is idle", async () => {
    const clock = new TestClock();
    const database = await opened(2, { clock });
    const late = brief(database, `${mine}, pg_sleep(0.1)`);
    await clock.advance(6);
    const next = brief(database);
    expect(await next).not.toBe(await late);
  });

  test("that fail fail alone", async () => {
    const database = await opened(1);
    const results = await Promise.allSettled([brief(database), brief(database, "select 1 / 0"), brief(database)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });
});

describe.skipIf(!server)("a lost connection", () => {
  const kill = (id: number) => asAdmin((admin) => admin`select pg_terminate_backend(${id}, 2000)`);

  test("fails its statement as unavailable, and the next one works", async () => {
    const database = await pool({ max: 1 });
    const id = await pid(database);
    const running = expect(database.query("select pg_sleep(10)", [])).rejects.toMatchObject(unavailable);
    await kill(id);
    await running;
    expect(await database.query("select 1 as one", [])).toEqual([{ one: 1 }]);
  });

  test("while it is opened costs no statement but its own", async () => {
    let opened = 0;
    const port = await listen((socket) => {
      opened += 1;
      if (opened === 1) return void socket.resetAndDestroy();
      const upstream = connect(Number(new URL(url).port), "127.0.0.1");
      upstream.on("error", () => {});
      socket.pipe(upstream).pipe(socket);
    });
    const target = { url: url.replace(/:\d+\//, `:${port}/`) };
    const database = poolOn(target, { max: 1, deadlineMs: 5_000 });
    const all = await Promise.allSettled([1, 2, 3, 4, 5].map(() => database.query("select 1 as one", [])));
    expect(all.map(({ status }) => status)).toEqual(["rejected", ...Array(4).fill("fulfilled")]);
    expect(all[0]).toMatchObject({ reason: unavailable });
    expect(opened).toBe(2);
  });

  test("that fails as it is opened, for whatever reason, is replaced", async () => {
    let opened = 0;
    const port = await listen((socket) => {
      opened += 1;
      const upstream = connect(Number(new URL(url).port), "127.0.0.1");
      upstream.on("error", () => {});
      socket.once("close", () => upstream.destroy());
      upstream.pipe(socket);
      // The server does not know the function by which the first connection is asked whether it takes writes.
      if (opened === 1)
        socket.on("data", (sent) =>
          upstream.write(sent.toString("latin1").replace("current_setting(", "current_settinh("), "latin1"),
        );
      else socket.pipe(upstream);
    });
    const database = poolOn({ url: url.replace(/:\d+\//, `:${port}/`) }, { max: 1, deadlineMs: 5_000 });
    await expect(database.query("select 1", [])).rejects.toThrow("current_settinh");
    expect(await database.query("select 1 as one", [])).toEqual([{ one: 1 }]);
  });

  test("before the server's first word is not opened again and again", async () => {
    let opened = 0;
    const port = await listen((socket) => {
      opened += 1;
      socket.end();
    });
    const target = { url: `postgres://postgres@127.0.0.1:${port}/postgres` };
    const database = poolOn(target, { max: 1, deadlineMs: 5_000 });
    await expect(database.query("select 1", [])).rejects.toMatchObject(unavailable);
    expect(opened).toBeLessThan(10);
  });

  test("takes along what waits behind it, and none of it happens later", async () => {
    const database = await pool({ max: 1 });
    const broken = database.transaction(async (tx) => {
      const [row] = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      const sent = Array.from({ length: 5 }, (_, index) =>
        tx.execute(
          sql`insert into organizations (id, slug, name) values (gen_random_uuid(), ${`o${index}`}, pg_sleep(0.5)::text)`,
        ),
      );
      const all = Promise.allSettled(sent.map((query) => query.then(() => {})));
      await kill(row?.pid ?? 0);
      expect((await all).map(({ status }) => status)).toEqual(Array(5).fill("rejected"));
    });
    await expect(broken).rejects.toMatchObject(unavailable);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await database.query("select slug from organizations", [])).toEqual([]);
    // What the driver had left would have come back on a connection of its own.
    const sessions = "select 1 from pg_stat_activity where datname = current_database()";
    expect(await database.query(sessions, [])).toHaveLength(1);
  });

  test("while it was idle is not even noticed", async () => {
    const database = await pool({ max: 1 });
    await kill(await pid(database));
    const again = () => database.query("select 1 as one", []).catch(() => null);
    await expect.poll(again).toEqual([{ one: 1 }]);
  });

  test.each([
    true,
    false,
  ])("ends its transaction, and nothing of it happens outside (statement running: %s)", async (running) => {
    const database = await pool({ max: 1 });
    const broken = database.transaction(async (tx) => {
      await tx.execute(sql.raw(insert.replace("$1", "'inside'")));
      const [row] = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      const slow = running
        ? tx.execute(sql`select pg_sleep(10)`).then(
            () => {},
            () => {},
          )
        : Promise.resolve();
      await kill(row?.pid ?? 0);
      await slow;
      await tx.execute(sql.raw(insert.replace("$1", "'after'")));
    });
    await expect(broken).rejects.toMatchObject(unavailable);
    expect(await database.query("select slug from organizations", [])).toEqual([]);
  });

  test("of many that are lost at once the process goes on", async () => {
    const database = await pool({ max: 4 });
    let left = 12;
    const work = Array.from({ length: left }, async (_, index) => {
      const slow =
        index % 2
          ? database.query("select pg_sleep(10)", [])
          : database.transaction((tx) => tx.execute(sql`select pg_sleep(10)`));
      await expect(slow).rejects.toMatchObject(unavailable);
      left -= 1;
    });
    await asAdmin(async (admin) => {
      for (let round = 0; left > 0 && round < 200; round += 1) {
        await admin`select pg_terminate_backend(pid) from pg_stat_activity where query = 'select pg_sleep(10)'`;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    await Promise.all(work);
    expect(await database.query("select 1 as one", [])).toEqual([{ one: 1 }]);
  });
});

describe.skipIf(!server)("without named statements, as behind a pooler", () => {
  test("statements and transactions work, and nothing is named", async () => {
    const target = { url: await freshDatabase(server), pooled: true };
    const database = poolOn(target, { max: 2, deadlineMs: 5_000, prepare: false });
    await database.query(insert, ["a"]);
    await database.transaction((tx) => tx.execute(sql`update organizations set name = ${"b"}`));
    expect(await database.query("select slug, name from organizations where slug = any($1)", [["a", "b"]])).toEqual([
      { slug: "a", name: "b" },
    ]);
    expect(await database.query("select name from pg_prepared_statements", [])).toEqual([]);
    expect(await database.query("show statement_timeout", [])).toEqual([{ statement_timeout: "4500ms" }]);
    const inside = await database.transaction((tx) => tx.execute(sql`show statement_timeout`));
    expect(inside).toEqual([{ statement_timeout: "4500ms" }]);
  });

  test("a close waits for a statement and its commit, also on a connection that is being opened", async () => {
    const target = { url: await freshDatabase(server), pooled: true };
    const other = poolOn(target, { max: 1 });
    for (const openBefore of [true, false]) {
      const database = poolOn(target, { max: 1, deadlineMs: 5_000, prepare: false });
      if (openBefore) await database.query("select 1", []);
      const stored = database.query(
        "insert into organizations (id, slug, name) select gen_random_uuid(), $1, '' from pg_sleep(0.2)",
        [`open before: ${openBefore}`],
      );
      await database.close();
      await stored;
    }
    expect(await other.query("select slug from organizations order by slug", [])).toEqual([
      { slug: "open before: false" },
      { slug: "open before: true" },
    ]);
  });

  test("with them, each text is parsed once a connection", async () => {
    const database = await pool({ max: 1 });
    for (const slug of ["a", "b", "c"]) await database.query(insert, [slug]);
    await database.db.select().from(organizations).where(sql`slug = ${"a"}`);
    const [row] = await database.query<{ count: string }>(
      "select count(*) from pg_prepared_statements where statement like $1",
      ["%organizations%"],
    );
    expect(row?.count).toBe("2");
  });
});

describe.skipIf(!server)("migrations", () => {
  const options = { clock: systemClock, timeoutMs: 10_000 };

  test("of starters that come together, one applies them", async () => {
    const target = { url: await emptyDatabase() };
    const migrations = readMigrations();
    const applied = await Promise.all([1, 2, 3].map(() => migrate(target, migrations, options)));
    expect(applied.sort()).toEqual([0, 0, migrations.length]);
    expect(await migrate(target, migrations, options)).toBe(0);
  });

  test("one that fails leaves the schema as it was", async () => {
    const target = { url: await emptyDatabase() };
    const broken = [
      { sql: ["create table first (id int)"], folderMillis: 1, hash: "a" },
      { sql: ["create table second (id int)", "create table first (id int)"], folderMillis: 2, hash: "b" },
    ];
    await expect(migrate(target, broken, options)).rejects.toThrow(
      new StartError('The schema can\'t be brought up to this release (relation "first" already exists)'),
    );
    const admin = postgres(target.url, { max: 1 });
    onTestFinished(() => admin.end());
    expect(await admin`select tablename from pg_tables where schemaname = 'public'`).toHaveLength(0);
    expect(await migrate(target, broken.slice(0, 1), options)).toBe(1);
    await expect(migrate(target, [], options)).rejects.toThrow("belongs to a newer release");
  });

  test("wait for a start, or for the command that applies them", async () => {
    const target = { url: await emptyDatabase() };
    const migrations = readMigrations();
    await migrate(target, migrations.slice(0, -2), options);
    const environment = { DATABASE_URL: target.url };
    const setup = { environment, settings: settingsOf(environment), log: silent };
    await expect(openAlone(setup)).rejects.toThrow(
      "The database is not up to this release: 2 migrations are not applied: start the server, or run agent-engine migrate",
    );
    expect(await migrate(target, migrations, options)).toBe(2);
    const { engine, close } = await openAlone(setup);
    await engine.stop(0);
    await close();
  });

  test("that lose a deadlock with a running replica are applied once more", async () => {
    const target = { url: await emptyDatabase() };
    const older = { sql: ["create table first (id int)", "create table second (id int)"], folderMillis: 1, hash: "a" };
    const changes = ["alter table first add column more int", "alter table second add column more int"];
    const newer = { sql: changes, folderMillis: 2, hash: "b" };
    await migrate(target, [older], options);
    const replica = replicaOn(target);
    const migrating = await replica.begin(async (tx) => {
      await tx`insert into second values (1)`;
      const applied = migrate(target, [older, newer], options);
      await expect.poll(waiting).toBe(1);
      await tx`insert into first values (1)`;
      return { applied };
    });
    expect(await migrating.applied).toBe(1);
    expect(await replica`select * from first natural join second`).toHaveLength(0);
    expect(await replica`select id from first join second using (id)`).toEqual([{ id: 1 }]);
  });

  test("that lose each deadlock say what to do", async () => {
    const raised = "do $$ begin raise exception 'deadlock detected' using errcode = '40P01'; end $$";
    const losing = [{ sql: [raised], folderMillis: 1, hash: "a" }];
    await expect(migrate({ url: await emptyDatabase() }, losing, options)).rejects.toThrow(
      new StartError(
        "The schema can't be brought up to this release (deadlock detected): stop the other servers on it, and start again",
      ),
    );
  });

  test("that change conversations and memories lose none to replicas that store memories", async () => {
    const target = { url: await emptyDatabase() };
    const migrations = readMigrations();
    const changing = migrations.findIndex(({ sql }) => sql.some((text) => text.includes("follow_up_due_at")));
    await migrate(target, migrations.slice(0, changing), options);
    // An index on many conversations takes longer than a session waits before it looks for deadlocks.
    const long = migrations.map((one, n) =>
      n === changing ? { ...one, sql: [...one.sql, "select pg_sleep(1.3)"] } : one,
    );
    const replica = replicaOn(target);
    let over = false;
    const migrating = migrate(target, long, options).finally(() => {
      over = true;
    });
    // The foreign key of a memory is looked up once the memory is written.
    const store = "begin; lock memories in row exclusive mode; lock conversations in row share mode; commit";
    while (!over) await replica.unsafe(store);
    expect(await migrating).toBe(migrations.length - changing);
  });
});

/** Another replica's connection. */
function replicaOn({ url }: { url: string }): postgres.Sql {
  const replica = postgres(url, { max: 1 });
  onTestFinished(() => replica.end());
  return replica;
}

/** How many sessions wait for a lock on a table. */
const waiting = () =>
  asAdmin(async (admin) => {
    const [row] = await admin`select count(*)::int as count from pg_locks where locktype = 'relation' and not granted`;
    return row?.count;
  });

describe("a PostgreSQL that can't be used is one clear line without the password", () => {
  const password = "s3cr3t-word";
  const refusal = (address: string, more: Record<string, string> = {}) =>
    open({ DATABASE_URL: address, ...more }).then(
      () => "it opened",
      (error: unknown) => {
        expect(error).toBeInstanceOf(StartError);
        expect(String(error)).not.toMatch(/s3cr3t|\n/);
        return (error as StartError).message;
      },
    );

  test("it does not run", async () => {
    expect(await refusal(`postgres://ada:${password}@127.0.0.1:9/app`)).toBe(
      "PostgreSQL at 127.0.0.1:9 (DATABASE_URL) can't be reached (ECONNREFUSED): check that it runs and that the address is right",
    );
  });

  test("its name is unknown", async () => {
    knowNoNames();
    const address = `postgres://ada:${password}@no-such-host.invalid/app`;
    expect(await refusal(address)).toContain("can't be reached (ENOTFOUND)");
  });

  test("something else answers, or nobody", async () => {
    const answers: ((write: (text: string) => void, end: () => void) => void)[] = [
      (write) => write("HTTP/1.1 400 Bad Request\r\n\r\n"),
      (_write, end) => end(),
      () => {},
    ];
    const ask = async (answer: (typeof answers)[number]) => {
      const port = await listen((socket) =>
        answer(
          (text) => socket.end(text),
          () => socket.end(),
        ),
      );
      const line = await refusal(`postgres://ada:${password}@127.0.0.1:${port}/app`, { DATABASE_TIMEOUT_SECONDS: "1" });
      expect(line).toMatch(/^PostgreSQL at 127.0.0.1:\d+ \(DATABASE_URL\) (does not answer|can't be reached)/);
    };
    await Promise.all(answers.map(ask));
  });

  test("a server without TLS is asked for it", async () => {
    const port = await listen((socket) => {
      // The protocol's "no" to a request for TLS; what follows makes no sense to the server.
      socket.once("data", () => {
        socket.write("N");
        socket.once("data", () => socket.destroy());
      });
    });
    const line = await refusal(`postgres://ada:${password}@127.0.0.1:${port}/app?sslmode=require`);
    expect(line).toMatch(/ refuses TLS: turn ssl on in PostgreSQL, or take sslmode out of DATABASE_URL$/);
  });

  test("the address can't be read", async () => {
    expect(await refusal(`postgres://ada:${password}%zz@localhost/app`)).toMatch(/^DATABASE_URL can't be read/);
    expect(await refusal(`postgres://ada:${password}@local host:port/app`)).toMatch(/^DATABASE_URL can't be read/);
  });

  test.skipIf(!server)("the database, the role or the password is wrong", async () => {
    const { host } = new URL(url);
    expect(await refusal(`postgres://postgres:${password}@${host}/missing`)).toBe(
      `PostgreSQL at ${host} (DATABASE_URL) has no database missing: make it with createdb missing`,
    );
    expect(await refusal(`postgres://nobody:${password}@${host}/postgres`)).toMatch(/does not let user nobody in/);
  });

  test.skipIf(!server)("it refuses a setting of the address", async () => {
    expect(await refusal(`${url}?schema=other`)).toMatch(
      /refuses a setting \(.*"schema"\): take it out of DATABASE_URL/,
    );
  });

  test.skipIf(!server)("the role may not make tables", async () => {
    const address = new URL(await emptyDatabase());
    await asAdmin((admin) => admin.unsafe("create role guest login"));
    address.username = "guest";
    expect(await refusal(address.href)).toMatch(/permission denied.*: connect as the owner of the database$/);
  });

  test.skipIf(!server)("its encoding is not UTF-8", async () => {
    await asAdmin((admin) => admin.unsafe("create database old encoding 'LATIN1' locale 'C' template template0"));
    expect(await refusal(withDatabase(url, "old"))).toMatch(/^The database is encoded in LATIN1/);
  });
});

test.skipIf(!server)("what other drivers read from an address is no obstacle", async () => {
  const address = await emptyDatabase();
  const { database, close } = await open({ DATABASE_URL: `${address}?channel_binding=prefer&application_name=mine` });
  onTestFinished(close);
  expect(await database.query("show application_name", [])).toEqual([{ application_name: "mine" }]);
});
