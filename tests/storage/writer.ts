// Writes rows for ever and says which ones were acknowledged; the test kills it.
import { systemClock } from "../../src/adapters/node/clock.ts";
import { openStorage } from "../../src/adapters/node/storage.ts";
import { parseSettings } from "../../src/core/config.ts";
import { silent } from "../embedded.ts";

const settings = parseSettings({ DATA_DIR: process.argv[2], ENCRYPTION_KEY: "00".repeat(32) });
const { database } = await openStorage(settings, { clock: systemClock, log: silent });
for (let count = 0; ; count += 1) {
  const slug = `row-${count}`;
  await database.query("insert into organizations (id, slug, name) values (gen_random_uuid(), $1, '')", [slug]);
  process.stdout.write(`${slug}
`);
}
