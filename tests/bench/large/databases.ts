import connect from "postgres";
import { withDatabase } from "../../real-postgres.ts";
import type { Contestant } from "../contestants.ts";
import { createAgents, engineTarget, ownerToken, startEngine } from "../engine.ts";
import { forgetWork } from "../forget-work.ts";
import { type Tap, tap } from "../tap.ts";
import { type Amounts, amountsOf, fill } from "./fill.ts";
import { sumUp } from "./sums.ts";

export interface LargeOptions {
  modelUrl: string;
  makeDatabase(): Promise<string>;
  /** 1: 10,000 agents, 2 million conversations, 20 million messages. */
  scale: number;
  /** The name of a database that is filled once, and taken as it is by later runs; that of the small one ends in `_small`. */
  filled?: string | undefined;
}

/** A server on one of the two databases, and what it says to it. */
export interface Side extends Contestant {
  databaseUrl: string;
  amounts: Amounts;
  sql: connect.Sql;
  wire: Tap;
  env: Record<string, string>;
  token: string;
}

export interface Sides {
  small: Side;
  large: Side;
  stop(): Promise<void>;
}

/** The comparison: the same rows, a thousandth of the full size. */
const smallScale = 0.001;

const encryptionKey = "5".repeat(64);

/** Two databases with rows of the same kinds, one of them with very many, and a server on each. */
export async function openSides(options: LargeOptions): Promise<Sides> {
  const small = await open("small", await databaseNamed(options, "_small"), smallScale, options);
  const large = await open("large", await databaseNamed(options, ""), options.scale, options);
  const all = [small, large];
  return {
    small,
    large,
    async stop() {
      for (const { process, sql, wire } of all) {
        await process.stop();
        await sql.end();
        await wire.stop();
      }
    },
  };
}

async function databaseNamed({ makeDatabase, filled }: LargeOptions, ending: string): Promise<string> {
  const made = await makeDatabase();
  if (filled === undefined) return made;
  const name = `${filled}${ending}`;
  const sql = connect(withDatabase(made, "postgres"), { max: 1 });
  const [known] = await sql`select from pg_database where datname = ${name}`;
  if (known) await sql.unsafe(`drop database ${new URL(made).pathname.slice(1)}`);
  else await sql.unsafe(`alter database ${new URL(made).pathname.slice(1)} rename to ${name}`);
  await sql.end();
  return withDatabase(made, name);
}

async function open(name: string, url: string, scale: number, { modelUrl }: LargeOptions): Promise<Side> {
  const wire = await tap(url);
  const sql = connect(url, { max: 1, onnotice: () => {} });
  const env = {
    DATABASE_URL: wire.url,
    ENCRYPTION_KEY: encryptionKey,
    OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
  };
  await fillOnce(name, url, sql, { env, scale });
  const process = await startEngine(env);
  const target = engineTarget(process.url);
  const token = await ownerToken(process.url);
  const amounts = amountsOf(scale);
  return {
    name,
    databaseUrl: url,
    amounts,
    sql,
    wire,
    env,
    token,
    process,
    target,
    memoryPath: "",
    startMs: 0,
    settleMs: 0,
  };
}

/** The engine makes the schema, and its API the first agents; then come the rows and their sums. */
async function fillOnce(
  name: string,
  url: string,
  sql: connect.Sql,
  { env, scale }: { env: Record<string, string>; scale: number },
): Promise<void> {
  const [schema] = await sql`select to_regclass('agents') as agents`;
  if (schema?.agents) return;
  const begun = performance.now();
  const tell = (done: string) =>
    console.error(`${name}, ${((performance.now() - begun) / 60_000).toFixed(1)} min: ${done}`);
  const engine = await startEngine(env);
  await createAgents(engine.url);
  await engine.stop();
  await forgetWork(url);
  const filling = connect(url, { max: 1, onnotice: () => {}, idle_timeout: 0, max_lifetime: null });
  await fill(filling, amountsOf(scale), tell);
  await filling.end();
  tell(`summed up in ${(await sumUp(url)).toFixed(0)} s`);
}
