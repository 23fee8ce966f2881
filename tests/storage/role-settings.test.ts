import { connect, createServer, type Socket } from "node:net";
import postgres from "postgres";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { prepare, startServer } from "../../src/main.ts";
import { startThrowaway, withDatabase } from "../real-postgres.ts";
import { key, open } from "./setup.ts";

/** Of this file alone, since it gets roles. */
const server = await startThrowaway();
afterAll(() => server?.stop());
const url = server?.url ?? "";

async function connected<T>(address: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(address, { max: 1, onnotice: () => {} });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const asAdmin = <T>(work: (admin: postgres.Sql) => Promise<T>) => connected(url, work);

/** An empty database of a role with these settings, as `alter role … set` takes them. */
async function roleWith(settings: Record<string, string>, name = `role_${crypto.randomUUID().replaceAll("-", "")}`) {
  await asAdmin(async (admin) => {
    await admin.unsafe(`create role "${name}" login`);
    await admin.unsafe(`create database "${name}" owner "${name}"`);
    for (const [setting, value] of Object.entries(settings)) {
      await admin.unsafe(`alter role "${name}" set ${setting} = ${value}`);
    }
  });
  const address = new URL(withDatabase(url, encodeURIComponent(name)));
  address.username = encodeURIComponent(name);
  return { name, address: address.href };
}

/** The refusal of a start; null for a start that went well. */
const refusal = (address: string, more: Record<string, string> = {}) =>
  open({ DATABASE_URL: address, ...more }).then(
    async ({ close }) => {
      await close();
      return null;
    },
    (error: Error) => error.message,
  );

/** Sees to the bytes of each connection to the server before they are passed on. Answers the port. */
async function inFront(host: string, see: (first: Buffer, client: Socket) => boolean = () => true): Promise<number> {
  const proxy = createServer((client) => {
    client.on("error", () => {});
    client.once("data", (first) => {
      if (!see(first, client)) return;
      const { hostname, port } = new URL(url);
      const upstream = connect(Number(port), hostname);
      upstream.on("error", () => client.destroy());
      client.once("close", () => upstream.destroy());
      upstream.write(first);
      client.pipe(upstream).pipe(client);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, host, resolve));
  onTestFinished(() => void proxy.close());
  const bound = proxy.address();
  return typeof bound === "object" && bound ? bound.port : 0;
}

/** A pooler that refuses the settings that PgBouncer refuses unless it is told otherwise, in its words. */
const pooler = () =>
  inFront("127.0.0.1", (first, client) => {
    const names = first
      .subarray(8)
      .toString()
      .split("\0")
      .filter((_, index) => index % 2 === 0);
    const known =
      /^(?:user|database|client_encoding|datestyle|timezone|standard_conforming_strings|application_name|)$/i;
    const unknown = names.find((name) => !known.test(name));
    if (unknown === undefined) return true;
    const fields = Buffer.from(`SFATAL\0C08P01\0Munsupported startup parameter: ${unknown}\0\0`);
    const head = Buffer.from("E\0\0\0\0");
    head.writeInt32BE(fields.length + 4, 1);
    client.end(Buffer.concat([head, fields]));
    return false;
  });

const through = (address: string, port: number) => address.replace(/:\d+\//, `:${port}/`);

const odd = {
  bytea_output: "'escape'",
  default_transaction_isolation: "'serializable'",
  search_path: "app",
  standard_conforming_strings: "off",
  row_security: "off",
  array_nulls: "off",
  extra_float_digits: "-15",
  IntervalStyle: "'sql_standard'",
  DateStyle: "'German'",
  TimeZone: "'Asia/Tokyo'",
};

describe.skipIf(!server)("settings of the role", () => {
  test("change nothing of what the server reads and writes", async () => {
    const { address } = await roleWith({ ...odd, statement_timeout: "1", lock_timeout: "1" });
    const { database, close } = await open({ DATABASE_URL: address });
    onTestFinished(close);
    const [row] = await database.query(
      `select decode('00ff5c', 'hex') as bytes, 'a\\b' as text, 0.1::float8 + 0.2::float8 as float,
        array_length('{NULL,a}'::text[], 1) as length, '{NULL}'::text[] as nulls, timestamptz '2027-01-31T00:00:00Z' as at,
        current_schema() as schema, current_setting('transaction_isolation') as isolation,
        (select count(*)::int from pg_tables where schemaname = 'public' and tablename = 'agents') as agents`,
      [],
    );
    expect(row).toEqual({
      bytes: Buffer.from([0, 0xff, 0x5c]),
      text: "a\\b",
      float: 0.1 + 0.2,
      length: 2,
      nulls: [null],
      at: "2027-01-31 00:00:00+00",
      schema: "public",
      isolation: "read committed",
      agents: 1,
    });
    // Rows that one start stored are read under the next.
    await database.query("insert into installation (id, key_check) values (1, '\\xdeadbeef')", []);
    const again = await open({ DATABASE_URL: address });
    onTestFinished(again.close);
    const [stored] = await again.database.query("select key_check as bytes from installation", []);
    expect(stored).toEqual({ bytes: Buffer.from("deadbeef", "hex") });
  });

  test("that a pooler keeps from being overridden are named before anything is written", async () => {
    const { address } = await roleWith(odd);
    const line = await refusal(through(address, await pooler()), { DATABASE_PREPARE: "false" });
    expect(line).toContain("array_nulls is off, bytea_output is escape, default_transaction_isolation is serializable");
    expect(line).toContain("extra_float_digits is -15, row_security is off, search_path is app");
    expect(line).toContain("reset them with alter role");
    const tables = await connected(address, (role) => role`select 1 from pg_tables where schemaname = 'drizzle'`);
    expect(tables).toHaveLength(0);
  });

  test("do no harm through a pooler where they are usual", async () => {
    const { address } = await roleWith({ search_path: `"$user", public`, statement_timeout: "'5s'" });
    expect(await refusal(through(address, await pooler()), { DATABASE_PREPARE: "false" })).toBeNull();
  });
});

describe.skipIf(!server)("a start says", () => {
  test("that a pooler refuses a setting, and what to do", async () => {
    const { address } = await roleWith({});
    expect(await refusal(through(address, await pooler()))).toMatch(
      /is a pooler that refuses a setting \(unsupported startup parameter: \w+\): set DATABASE_PREPARE=false$/,
    );
  });

  test("that a pooler hides the settings, and what to do", async () => {
    const { address } = await roleWith({});
    const port = await inFront("127.0.0.1", (first) => {
      // As ignore_startup_parameters does: the server does not learn of the setting.
      first.write("ignored.timeout_x", first.indexOf("statement_timeout"));
      return true;
    });
    expect(await refusal(through(address, port))).toMatch(
      /pooler .* ignores the settings .*: set DATABASE_PREPARE=false/,
    );
  });

  test("that it has the wrong word for the host that takes writes", async () => {
    const { address } = await roleWith({});
    expect(await refusal(`${address}?target_session_attrs=read-write`)).toBe(
      "DATABASE_URL asks for target_session_attrs=read-write: write target_session_attrs=primary, which finds the host that takes writes",
    );
    expect(await refusal(`${address}?target_session_attrs=primary`)).toBeNull();
  });

  test("that the server takes no writes", async () => {
    const { address } = await roleWith({ default_transaction_read_only: "on" });
    expect(await refusal(address)).toMatch(/takes no writes: it is a standby, or default_transaction_read_only is on/);
  });

  test("that the role may have no more connections", async () => {
    const { name, address } = await roleWith({});
    await asAdmin((admin) => admin.unsafe(`alter role "${name}" connection limit 1`));
    const held = postgres(address, { max: 1, onnotice: () => {} });
    onTestFinished(() => held.end());
    await held`select 1`;
    expect(await refusal(address)).toMatch(
      /gives user role_\w+ no more connections \(too many connections for role "role_\w+"\): lower DATABASE_POOL, or raise the limit/,
    );
  });
});

describe.skipIf(!server)("a start whose database is open says", () => {
  test.each([
    ["postgres://ada@localhost:port/app", /^DATABASE_LISTEN_URL can't be read/],
    ["postgres://ada@localhost/app?target_session_attrs=any", /^DATABASE_LISTEN_URL asks for .*=any/],
  ])("that the address for LISTEN is wrong: %s", async (listen, expected) => {
    const { address } = await roleWith({});
    const environment = {
      DATABASE_URL: address,
      DATABASE_LISTEN_URL: listen,
      ENCRYPTION_KEY: key,
      LOG_LEVEL: "silent",
    };
    const setup = prepare({ ...environment, HOST: "127.0.0.1", PORT: "0" }, { terminal: false });
    await expect(startServer(setup)).rejects.toThrow(expected);
  });

  test("that the role may have no more connections", async () => {
    const { name, address } = await roleWith({});
    await asAdmin((admin) => admin.unsafe(`alter role "${name}" connection limit 1`));
    const environment = {
      DATABASE_URL: address,
      ENCRYPTION_KEY: key,
      HOST: "127.0.0.1",
      PORT: "0",
      LOG_LEVEL: "silent",
    };
    const setup = prepare(environment, { terminal: false });
    await expect(startServer(setup)).rejects.toThrow(/gives user role_\w+ no more connections .*lower DATABASE_POOL/);
  });
});

describe.skipIf(!server)("a start finds its server", () => {
  test("at a socket, with names that need encoding", async () => {
    const { name } = await roleWith({}, "a role / of ünïcode");
    const folder = await asAdmin(
      async (admin) => (await admin`show unix_socket_directories`)[0]?.unix_socket_directories,
    );
    const [role, port] = [encodeURIComponent(name), new URL(url).port];
    for (const address of [
      `postgres://${role}@localhost:${port}/${role}?host=${folder}`,
      `postgres://${role}@/${role}?host=${folder}&port=${port}`,
    ]) {
      expect(await refusal(address)).toBeNull();
    }
    expect(await refusal(`postgres://${role}@/missing?host=${folder}&port=${port}`)).toBe(
      `PostgreSQL at ${folder} (DATABASE_URL) has no database missing: make it with createdb missing`,
    );
  });

  test("at an address of IPv6", async () => {
    const port = await inFront("::1");
    const { address } = await roleWith({});
    expect(await refusal(address.replace(/@[^/]+/, `@[::1]:${port}`))).toBeNull();
    expect(await refusal("postgres://ada@[::1]:9/app")).toMatch(
      /^PostgreSQL at \[::1\]:9 \(DATABASE_URL\) can't be reached/,
    );
  });
});
