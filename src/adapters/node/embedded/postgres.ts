import { readFile } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import { PGlite } from "@electric-sql/pglite";
import { type DataSettings, LateDirectory } from "./late-directory.ts";
import { simpleQuery, sync } from "./messages.ts";

/**
 * The parameters of PostgreSQL beside PGlite's own. Its usual buffers of 128 MB would be touched whole at each start;
 * the system's cache stands behind these smaller ones. The log's sizes bound the files that are kept for reuse.
 * PostgreSQL scans a whole table only where no index leads to the rows: it reuses plans, and a plan made for an empty
 * table would still scan the table after it has filled.
 */
const parameters = { shared_buffers: "16MB", min_wal_size: "32MB", max_wal_size: "64MB", enable_seqscan: "off" };

export const startParams: string[] = [
  ...PGlite.defaultStartParams,
  ...Object.entries(parameters).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
];

/** For `initdb`: a segment of the log is made whole, however little is written. */
export const initDbStartParams = ["--wal-segsize=1"];

/** PGlite asks for all types at its start, for answers that it parses; here they are parsed by the client. */
class Postgres extends PGlite {
  override async _initArrayTypes(): Promise<void> {}
}

/**
 * The budget, in bytes of a function's code, that V8 spends before it compiles the function again for speed. V8's usual
 * budget makes it recompile much of PostgreSQL at each start, which on one core took a fifth of the time to the first
 * reply. With ours it still recompiles the code that a server runs all the time.
 */
const [usualBudget, patientBudget] = [13_000_000, 250_000_000];

/** Programs that are compiled meanwhile, such as that of passwords, are run for speed a little later too. */
async function compilePatiently(program: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  setFlagsFromString(`--wasm-tiering-budget=${patientBudget}`);
  try {
    return await WebAssembly.compile(program);
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${usualBudget}`);
  }
}

/** A statement that is parsed and half planned, and then refused: it runs nothing that a server runs all the time. */
const refused = "select a.oid from pg_class a left join pg_class b on true order by a.oid for update of b";

/**
 * Parses and plans a statement for the first time. V8 takes each call of a function for a run of all its code up to where
 * it returns, so that what is large and called for each part of a statement, such as the parser (100 KB) and what copies
 * and compares those parts (39 and 22), would be compiled for speed first, within the start: the parser for 600 MB and
 * seconds of a core. Plans are kept, so that speed is not needed there. Whether a function may be compiled so at all is
 * settled at its first call, when V8 compiles it in haste; the flag lets it be none but function 0, which is an import.
 */
function planInHaste(database: PGlite): void {
  // Compiles the code that every message runs before the flag is set.
  database.execProtocolRawSync(sync);
  setFlagsFromString("--wasm-tier-up-filter=0");
  try {
    database.execProtocolRawSync(simpleQuery(refused));
  } finally {
    setFlagsFromString("--wasm-tier-up-filter=-1");
  }
}

/** Loads PostgreSQL at once, and opens the data as soon as the settings are known. */
export async function openPostgres(settings: Promise<DataSettings>): Promise<PGlite> {
  // PGlite would read and compile the program only after some other reading.
  const program = new URL("pglite.wasm", import.meta.resolve("@electric-sql/pglite"));
  const pgliteWasmModule = await compilePatiently(await readFile(program));
  const database = new Postgres({ fs: new LateDirectory(settings), pgliteWasmModule, startParams, initDbStartParams });
  await database.waitReady;
  planInHaste(database);
  return database;
}
