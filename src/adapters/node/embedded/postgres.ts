import { readFile } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import { PGlite } from "@electric-sql/pglite";
import { type DataSettings, LateDirectory } from "./late-directory.ts";
import { simpleQuery, sync } from "./messages.ts";

/**
 * PostgreSQL's parameters that differ from PGlite's. The usual buffers of 128 MB would all be written at each start;
 * the system's cache helps these smaller ones. The log's sizes limit the files that are stored for reuse. PostgreSQL
 * scans a whole table only when no index leads to the rows: it reuses plans, and a plan from when a table was empty
 * would scan the filled table too.
 */
const parameters = { shared_buffers: "16MB", min_wal_size: "32MB", max_wal_size: "64MB", enable_seqscan: "off" };

export const startParams: string[] = [
  ...PGlite.defaultStartParams,
  ...Object.entries(parameters).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
];

/** For `initdb`: the size of a log segment, which is created in full even if little is written. */
export const initDbStartParams = ["--wal-segsize=1"];

/** PGlite requests all types at its start, to parse answers; here the client parses answers. */
class Postgres extends PGlite {
  override async _initArrayTypes(): Promise<void> {}
}

/**
 * The budget, in bytes of a function's code, that V8 spends before it recompiles the function for speed. With its usual
 * budget, V8 recompiled much of PostgreSQL at each start: on one core, a fifth of the time to the first reply. With
 * this budget it still recompiles the code that a server runs all the time.
 */
const [usualBudget, patientBudget] = [13_000_000, 250_000_000];

/** The budget also applies to other programs compiled in this time, such as the password hash's. */
async function compilePatiently(program: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  setFlagsFromString(`--wasm-tiering-budget=${patientBudget}`);
  try {
    return await WebAssembly.compile(program);
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${usualBudget}`);
  }
}

/** A statement that is parsed and half planned, then refused: it runs no code that a server runs often. */
const refused = "select a.oid from pg_class a left join pg_class b on true order by a.oid for update of b";

/**
 * Parses and plans a statement for the first time. V8 counts each call of a function as a run of all its code up to the
 * return. So the first to be recompiled, during the start, would be large functions that are called for each part of a
 * statement: the parser (100 KB), with 600 MB and seconds of a core, and those that copy and compare these parts (39
 * and 22 KB). Since plans are reused, speed matters little there. V8 decides at a function's first call whether it may
 * recompile it; the flag allows it only for function 0, which is an import.
 */
function planInHaste(database: PGlite): void {
  // Compiles the code for every message before the flag is set.
  database.execProtocolRawSync(sync);
  setFlagsFromString("--wasm-tier-up-filter=0");
  try {
    database.execProtocolRawSync(simpleQuery(refused));
  } finally {
    setFlagsFromString("--wasm-tier-up-filter=-1");
  }
}

/** Loads PostgreSQL at once. Opens the data when the settings are known. */
export async function openPostgres(settings: Promise<DataSettings>): Promise<PGlite> {
  // Read here, since PGlite would read and compile the program only after other work.
  const program = new URL("pglite.wasm", import.meta.resolve("@electric-sql/pglite"));
  const pgliteWasmModule = await compilePatiently(await readFile(program));
  const database = new Postgres({ fs: new LateDirectory(settings), pgliteWasmModule, startParams, initDbStartParams });
  await database.waitReady;
  planInHaste(database);
  return database;
}
