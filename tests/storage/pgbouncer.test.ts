import { spawn } from "node:child_process";
import { chownSync, existsSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { afterAll, expect, onTestFinished, type TestContext, test } from "vitest";
import type { StartError } from "../../src/core/errors.ts";
import { freePort, startThrowaway } from "../real-postgres.ts";
import { readPages, textsIn } from "../runtime/pages.ts";
import { skipHere } from "../skip.ts";
import { open, temporaryDirectory } from "./setup.ts";

const program = "/usr/sbin/pgbouncer";
const server = await startThrowaway();
afterAll(() => server?.stop());

/** PgBouncer with the file of docs/high-availability.md, in front of this server. Answers the address of a database. */
async function pgBouncer({ skip }: Pick<TestContext, "skip">, more = ""): Promise<string> {
  if (!server || !existsSync(program)) skipHere({ skip }, `there is no ${program}`);
  const { port } = new URL(server.url);
  const directory = temporaryDirectory();
  const own = await freePort();
  const page = readPages().find(({ name }) => name === "docs/high-availability.md");
  const [text = ""] = page ? textsIn(page, "ini").filter((one) => one.includes("[pgbouncer]")) : [];
  const changed = text
    .replace(/^agent_engine = .*$/m, `* = host=127.0.0.1 port=${port}`)
    .replace(/^listen_port = .*$/m, `listen_port = ${own}`)
    .replace(/^auth_type = .*$/m, "auth_type = trust")
    .replace(/^auth_file = .*$/m, `auth_file = ${directory}/userlist.txt\nunix_socket_dir =`);
  writeFileSync(join(directory, "pgbouncer.ini"), `${changed}\n${more}`);
  writeFileSync(join(directory, "userlist.txt"), '"postgres" ""\n');
  // It refuses to run as root.
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (nobody.uid) chownSync(directory, nobody.uid, nobody.gid);
  const child = spawn(program, [join(directory, "pgbouncer.ini")], { ...nobody, stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const answers = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(own, "127.0.0.1", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.end());
    });
  await expect.poll(answers).toBe(true);
  return `postgres://postgres@127.0.0.1:${own}/postgres`;
}

test("behind PgBouncer, set up as the page says, all works and statements keep their deadline", async (context) => {
  const url = await pgBouncer(context);
  const { database, close } = await open({ DATABASE_URL: url, DATABASE_PREPARE: "false" });
  onTestFinished(close);
  const insert = "insert into organizations (id, slug, name) values (gen_random_uuid(), $1, '') returning slug";
  const slugs = Array.from({ length: 40 }, (_, index) => `s${index}`);
  const rows = await Promise.all(slugs.map((slug) => database.query<{ slug: string }>(insert, [slug])));
  expect(rows.flat().map(({ slug }) => slug)).toEqual(slugs);
  await database.transaction(async (tx) => {
    await tx.execute(sql`update organizations set name = 'one'`);
    expect(await tx.execute(sql`show statement_timeout`)).toEqual([{ statement_timeout: "13500ms" }]);
  });
  expect(await database.query("show statement_timeout", [])).toEqual([{ statement_timeout: "13500ms" }]);
  expect(await database.query("select distinct name from organizations", [])).toEqual([{ name: "one" }]);
});

test("a PgBouncer that hides what it drops is refused, with the setting to change", async (context) => {
  const dropped =
    "bytea_output,default_transaction_isolation,search_path,row_security,array_nulls,transform_null_equals,extra_float_digits,IntervalStyle,lock_timeout,statement_timeout";
  const url = await pgBouncer(context, `ignore_startup_parameters = ${dropped}\n`);
  const refused = open({ DATABASE_URL: url }).catch((error: StartError) => error.message);
  expect(await refused).toMatch(/ignores the settings of sessions: set DATABASE_PREPARE=false/);
});
