// Lets the embedded database in a directory parse and plan far more than it may run before V8 compiles that for speed,
// and then run a statement so, which is to be compiled.
import { openPostgres } from "../../src/adapters/node/embedded/postgres.ts";

const directory = process.argv[2] ?? "";
const database = await openPostgres(Promise.resolve({ directory, template: null }));
const numbers = Array(10_000).fill("1").join();
for (let count = 0; count < 3; count += 1) await database.exec(`prepare many_${count} as select 1 in (${numbers})`);
await database.query("select sum(number) from generate_series(1, 1000000) number");
await database.close();
