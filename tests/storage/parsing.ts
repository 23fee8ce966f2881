// Lets the embedded database in a directory parse far more than it may run before V8 compiles it for speed.
import { openPostgres } from "../../src/adapters/node/embedded/postgres.ts";

const directory = process.argv[2] ?? "";
const database = await openPostgres(Promise.resolve({ directory, template: null }));
const numbers = Array(10_000).fill("1").join();
for (let count = 0; count < 3; count += 1) await database.query(`select 1 in (${numbers})`);
await database.close();
