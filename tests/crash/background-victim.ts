// Does the background work of conversations until it kills itself at the given moment, or until none is left.
import { setTimeout as sleep } from "node:timers/promises";
import { PostgresJsPreparedQuery } from "drizzle-orm/postgres-js";
import { editionOf, openEdition } from "../../src/core/edition.ts";
import type { Database } from "../../src/db/client.ts";
import { createEngine } from "../../src/engine.ts";
import { plainText } from "../plain-text.ts";
import { finish, scriptedModel, text } from "../scripted-model.ts";
import { openPlace, servicesOf } from "./services.ts";

const [, , place = "", wanted = "", moment = "", ordinal = "", edition = "open"] = process.argv;

/** The statements that store the results, each for many conversations. */
const gathered: Record<string, RegExp> = {
  titles: /^update conversations set .* title_due_at /,
  facts: /^with fact as materialized /,
  followed: /^update conversations set .* follow_up_due_at /,
  // The audit entry in the transaction of a deletion: of a batch by retention, or of an agent of a deleted organization.
  purged: /^(?:insert into|update) audit_logs /,
};

let left = Number(ordinal);

const die = () => process.kill(process.pid, "SIGKILL");

async function watched<Row>(sql: string, send: () => Promise<Row>): Promise<Row> {
  if (!gathered[wanted]?.test(plainText(sql))) return send();
  left -= 1;
  if (left !== 0) return send();
  if (moment === "before") die();
  const sent = send();
  // The statement is being sent by then, and may have run or not.
  if (moment === "sent") setImmediate(die);
  const answer = await sent;
  if (moment === "after") die();
  return answer;
}

const opened = await openPlace(place);
const database: Database = { ...opened, query: (sql, values) => watched(sql, () => opened.query(sql, values)) };
Object.assign(PostgresJsPreparedQuery.prototype, {
  queryWithCache: (sql: string, _values: unknown[], send: () => Promise<unknown>) => watched(sql, send),
});

const model = scriptedModel(({ prompt }) => {
  const asked = JSON.stringify(prompt);
  const [question] = /question \d+/.exec(asked) ?? [];
  const answer = { title: `On ${question}`, facts: [{ content: `Asked ${question}` }] };
  return { parts: [text(JSON.stringify(answer)), finish("stop", { input: 10, output: 5 })] };
});

const services = await servicesOf(database, model);
const managed = editionOf({ EDITION: "managed", FEATURES: ["administration"] });
const options = { ...services.options, edition: edition === "managed" ? managed : openEdition };
const engine = createEngine({ ...services, options });
// As a server does: without it, a job that takes longer than a lease would be taken over.
setInterval(() => void engine.renewLeases().catch(() => {}), 5_000);
await engine.tick();
/** Conversations that are due, and jobs whose end is not stored yet. */
const unfinished = () =>
  database.query(
    `select from conversations where title_due_at is not null or follow_up_due_at is not null
     union all select from jobs where status = 'pending'`,
    [],
  );
while ((await unfinished()).length > 0) await sleep(50);
process.exit(0);
