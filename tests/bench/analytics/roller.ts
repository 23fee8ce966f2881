import { createServer } from "node:http";
import { systemClock } from "../../../src/adapters/node/clock.ts";
import { openStorage } from "../../../src/adapters/node/storage.ts";
import type { Services } from "../../../src/context/ctx.ts";
import { parseSettings } from "../../../src/core/config.ts";
import { createRollUp } from "../../../src/features/analytics/roll-up.ts";
import { silent } from "../../embedded.ts";
import { announce } from "../processes.ts";
import { seed } from "./seed.ts";

// The roll-up alone, on a database with the engine's schema: `/seed/<turns>` adds turns, and `/roll` rolls all of them up.

const { database } = await openStorage(parseSettings(process.env), { clock: systemClock, log: silent });

/** How long each statement of the roll-up took, in milliseconds. */
export type Rolled = number[];

async function roll(): Promise<Rolled> {
  const ms: number[] = [];
  const query: typeof database.query = async (text, parameters) => {
    const startedAt = performance.now();
    const rows = await database.query(text, parameters);
    ms.push(performance.now() - startedAt);
    return rows as never;
  };
  let before: number;
  do {
    before = ms.length;
    await createRollUp({ database: { ...database, query }, clock: systemClock } as Services)();
    // A roll-up without rows left takes one statement.
  } while (ms.length - before > 1);
  return ms;
}

announce(
  createServer(async ({ url = "" }, response) => {
    const [, what, count] = url.split("/");
    if (what === "seed") await seed((text) => database.query(text, []), Number(count));
    response.end(JSON.stringify(what === "roll" ? await roll() : []));
  }),
);
