// Puts events into the backlogs of two agents and takes the turns of their Rooms until it kills itself at the given
// moment; without one it takes the remaining turns and ends once nothing waits.
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { newId } from "../../src/core/ids.ts";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { roomEvents } from "../../src/db/schema.ts";
import { createEngine } from "../../src/engine.ts";
import { addToBacklog } from "../../src/features/room/backlog/add.ts";
import { evaluateJob } from "../../src/features/room/scheduler/job.ts";
import { enqueue } from "../../src/jobs/enqueue.ts";
import { plainText } from "../plain-text.ts";
import { finish, type ScriptStep, scriptedModel, text, toolCall } from "../scripted-model.ts";
import { openPlace, servicesOf } from "./services.ts";

const [, , place = "", owners = "", moment = "", ordinal = ""] = process.argv;

interface Owner {
  agentId: string;
  organizationId: string;
  definitionId: string;
}

let left = Number(ordinal);

/** A moment was reached; at the requested one the process ends. */
function reach(reached: string): void {
  if (reached !== moment) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
}

/** The statements of a turn and of its job, by their beginnings. */
const moments = [
  [/insert into turns/, "open"],
  [/\bturn as \( update turns set status/, "record"],
  [/^delete from jobs using /, "complete"],
] as const;

function watch(database: Database): Database {
  const query: Database["query"] = async (sql, parameters) => {
    const [, name] = moments.find(([pattern]) => pattern.test(plainText(sql))) ?? [];
    if (name === undefined) return database.query(sql, parameters);
    reach(`before ${name}`);
    const answer = database.query<never>(sql, parameters);
    // The statement is being sent by then, and may have run or not.
    setImmediate(() => reach(`during ${name}`));
    const rows = await answer;
    reach(`after ${name}`);
    return rows;
  };
  // The transactions of events, of claims, of marks and of ends.
  const transaction: Database["transaction"] = async (work) => {
    const result = await database.transaction(async (tx) => {
      const done = await work(tx);
      reach("before commit");
      return done;
    });
    reach("after commit");
    return result;
  };
  return { ...database, query, transaction };
}

const plain = await openPlace(place);
const database = watch(plain);
/** Its session holds a lock for each entry that is in a turn of this process. */
const locks = openDatabase({ url: place }, { max: 1, prepare: true, deadlineMs: 60_000, clock: systemClock });

/** Detects two live turns of one entry. */
async function hold(ids: readonly string[], fn: "try_advisory_lock" | "advisory_unlock"): Promise<void> {
  for (const id of ids) {
    const [row] = await locks.query<{ ok: boolean }>(`select pg_${fn}(hashtextextended($1, 0)) as ok`, [id]);
    if (row?.ok) continue;
    process.stderr.write(`${id} is in two turns at a time\n`);
    process.exit(3);
  }
}

const model = scriptedModel(({ prompt }): ScriptStep => {
  const told = JSON.stringify(prompt.findLast(({ role }) => role === "user")?.content);
  const ids = [...told.matchAll(/Event ([0-9a-f-]{36})/g)].map(([, id]) => id ?? "");
  const rest = async (name: string) => {
    await sleep(Math.random() * 10);
    reach(name);
  };
  if (prompt.at(-1)?.role === "tool") {
    const end = async () => {
      await rest("answering");
      await hold(ids, "advisory_unlock");
    };
    return { parts: [end(), ...text("Done."), finish()] };
  }
  const begin = async () => {
    await hold(ids, "try_advisory_lock");
    await rest("thinking");
  };
  const mark = toolCall(newId(), "markEventsCompleted", { eventIds: ids });
  return { parts: [begin(), ...mark, finish("tool-calls")] };
});

const engine = createEngine(await servicesOf(database, model));
// As a server does: without it, a job that takes longer than a lease would be taken over.
setInterval(() => void engine.renewLeases().catch(() => {}), 5_000);

/** The rows of an event that matched, and a notice to the Room at once. */
async function bring({ definitionId, ...owner }: Owner, payload: object): Promise<void> {
  const now = Date.now();
  const event = { id: newId(), ...owner, receivedAt: new Date(now), payload };
  const added = await database.transaction(async (tx) => {
    await tx.insert(roomEvents).values(event);
    const found = await addToBacklog(tx, { ...owner, definitionId, roomEventId: event.id, payload: {}, now });
    const { agentId, organizationId } = owner;
    await enqueue(tx, evaluateJob.of({ agentId }), { organizationId });
    return found;
  });
  if (added.outcome === "backlog") process.stdout.write(`${added.backlogId}\n`);
}

/** A job at which too many processes died is given up, and the scheduler makes another one. */
const open = `select from event_backlog where status in ('pending', 'processing')
  union all select from jobs where status = 'pending'`;

if (moment === "") {
  while ((await plain.query(open, [])).length > 0) {
    await engine.tick();
    await sleep(20);
  }
  process.exit(0);
}

if (moment === "ms") setTimeout(() => process.kill(process.pid, "SIGKILL"), Number(ordinal));
setInterval(() => void engine.tick().catch(() => {}), 50);
for (let number = 1; ; number += 1) {
  for (const owner of JSON.parse(owners) as Owner[]) await bring(owner, { number });
  await sleep(50 + Math.random() * 50);
}
