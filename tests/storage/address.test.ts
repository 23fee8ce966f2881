import { expect, test } from "vitest";
import { readAddress, shownHosts } from "../../src/db/address.ts";
import { serverOptions } from "../../src/db/pool/server-options.ts";

const nothing = { socketDirectory: null, user: undefined, password: undefined, database: undefined, parameters: {} };
const at = (host: string, port = 5432) => ({ host, port });

test.each([
  ["postgres://db", { hosts: [at("db")] }],
  ["postgresql://", { hosts: [at("localhost")] }],
  [
    "postgres://ada:p%40ss%2F@db.example:6000/app?application_name=x",
    {
      hosts: [at("db.example", 6000)],
      user: "ada",
      password: "p@ss/",
      database: "app",
      parameters: { application_name: "x" },
    },
  ],
  ["postgres://ada:a@b@db/app", { hosts: [at("db")], user: "ada", password: "a@b", database: "app" }],
  ["postgres://ada@[::1]:5433/with%20space", { hosts: [at("::1", 5433)], user: "ada", database: "with space" }],
  ["postgres://[2001:db8::1]/app", { hosts: [at("2001:db8::1")], database: "app" }],
  [
    "postgres://%C3%A4da@one:1,[::1]:2,three/app?target_session_attrs=primary",
    {
      hosts: [at("one", 1), at("::1", 2), at("three")],
      user: "äda",
      database: "app",
      parameters: { target_session_attrs: "primary" },
    },
  ],
  ["postgres://a,b/app?port=7", { hosts: [at("a", 7), at("b", 7)], database: "app" }],
  [
    "postgres://ada@localhost:5433/app?host=/var/run/postgresql",
    { hosts: [at("/var/run/postgresql", 5433)], socketDirectory: "/var/run/postgresql", user: "ada", database: "app" },
  ],
  [
    "postgres://ada@/app?host=/run/pg&port=7",
    { hosts: [at("/run/pg", 7)], socketDirectory: "/run/pg", user: "ada", database: "app" },
  ],
  [
    "postgres://ada@%2Frun%2Fpg:7/app",
    { hosts: [at("/run/pg", 7)], socketDirectory: "/run/pg", user: "ada", database: "app" },
  ],
  [
    "postgres:///app?user=ada&password=x%2By&dbname=other",
    { hosts: [at("localhost")], user: "ada", password: "x+y", database: "other" },
  ],
])("%s is read as libpq reads it", (url, parts) => expect(readAddress(url)).toEqual({ ...nothing, ...parts }));

test.each([
  "mysql://db/app",
  "postgres:/db/app",
  "postgres://ada:%zz@db/app",
  "postgres://db:port/app",
  "postgres://db:70000/app",
  "postgres://::1/app",
  "postgres://[::1/app",
  "postgres://a,b/app?host=/run/pg,/run/other",
])("%s can't be read", (url) => expect(readAddress(url)).toBeNull());

test("hosts are shown without user and password", () => {
  const shown = (url: string) => shownHosts(readAddress(url) ?? { ...nothing, hosts: [] });
  expect(shown("postgres://ada:secret@[::1],db:7/app")).toBe("[::1]:5432,db:7");
  expect(shown("postgres://ada:secret@/app?host=/run/pg")).toBe("/run/pg");
});

test("the parameters of an address reach the driver, the server or nobody, and none overrides what the server needs", () => {
  const query =
    "sslmode=disable&connect_timeout=3&channel_binding=prefer&application_name=mine&bytea_output=escape&work_mem=8MB";
  const connection = { application_name: "mine", work_mem: "8MB", bytea_output: "hex", statement_timeout: "500" };
  expect(serverOptions({ url: `postgres://a,[::1]/app?${query}` }, 500)).toMatchObject(
    ["a", "::1"].map((host) => ({ host: [host], port: [5432], database: "app", ssl: false, connection })),
  );
  const pooled = serverOptions({ url: "postgres://a/app", pooled: true }, 500);
  expect(pooled).toEqual([
    {
      host: ["a"],
      port: [5432],
      database: "app",
      connection: { application_name: "agent-engine", TimeZone: "UTC", DateStyle: "ISO" },
    },
  ]);
});
