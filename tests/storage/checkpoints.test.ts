import { expect, onTestFinished, test } from "vitest";
import { template } from "../../scripts/make-template.ts";
import { withCheckpoints } from "../../src/adapters/node/embedded/checkpoints.ts";
import { simpleQuery } from "../../src/adapters/node/embedded/messages.ts";
import { openPostgres } from "../../src/adapters/node/embedded/postgres.ts";
import { TestClock } from "../clock.ts";

/** Enough for the log to be shortened, in one statement. */
const much = "insert into much select repeat(md5(n::text), 30) from generate_series(1, 50000) n";

async function database() {
  const clock = new TestClock();
  const postgres = await openPostgres(Promise.resolve({ directory: null, template: await template() }));
  onTestFinished(() => postgres.close());
  const exchange = withCheckpoints((messages) => postgres.execProtocolRawSync(messages) as never, clock);
  const run = (text: string) => void exchange(simpleQuery(text));
  const state = async () => {
    const { rows } = await postgres.query<{ redo: string; megabytes: number }>(
      "select redo_lsn::text as redo, (select sum(size) / 1e6 from pg_ls_waldir())::int as megabytes from pg_control_checkpoint()",
    );
    return rows[0] ?? { redo: "", megabytes: 0 };
  };
  run("create table much (text text)");
  return { clock, run, state };
}

test("much work is followed by a checkpoint, so that the log stays short; little is not", async () => {
  const { clock, run, state } = await database();
  const before = await state();
  await clock.advance(10_000);
  expect((await state()).redo).toBe(before.redo);
  for (let time = 0; time < 3; time += 1) {
    run(much);
    const { redo } = await state();
    await clock.advance(10_000);
    expect((await state()).redo).not.toBe(redo);
  }
  // Three times as much was written.
  expect((await state()).megabytes).toBeLessThan(130);
});

test("an open transaction is left alone until it ends", async () => {
  const { clock, run, state } = await database();
  run("begin");
  run(much);
  const before = await state();
  await clock.advance(30_000);
  expect((await state()).redo).toBe(before.redo);
  run("commit");
  await clock.advance(10_000);
  expect((await state()).redo).not.toBe(before.redo);
});
