// Makes tasks that are due at once and runs them until it kills itself at the given moment; without one it runs the
// remaining tasks and ends once none is left.
import { setTimeout as sleep } from "node:timers/promises";
import { createMessengers } from "../../src/adapters/messengers/index.ts";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { newId } from "../../src/core/ids.ts";
import { agents, scheduledTasks } from "../../src/db/schema.ts";
import { createEngine } from "../../src/engine.ts";
import { dueJob } from "../../src/features/tasks/due/work.ts";
import { enqueue } from "../../src/jobs/enqueue.ts";
import { finish, scriptedModel, text } from "../scripted-model.ts";
import { dieAt } from "./moments.ts";
import { openPlace, servicesOf } from "./services.ts";

const [, , place = "", first = "", moment = "", ordinal = ""] = process.argv;

const { reach, watch } = dieAt(moment, Number(ordinal));

const model = scriptedModel(() => {
  const words = async (name: string) => {
    await sleep(Math.random() * 10);
    reach(name);
  };
  return { parts: [words("thinking"), ...text("Answered."), words("streaming"), finish()] };
});

const real = createMessengers({
  clock: systemClock,
  fetch: async () => Promise.reject(new Error("There is nobody here")),
});
const database = watch(await openPlace(place), "task.run");
const engine = createEngine({
  ...(await servicesOf(database, model)),
  messengers: { account: (...of) => ({ ...real.account(...of), typingMs: null, send: async () => "1" }) },
});
// As a server does: without it, a job that takes longer than a lease would be taken over.
setInterval(() => void engine.renewLeases().catch(() => {}), 5_000);

const [agent] = await database.db.select().from(agents);
if (!agent) throw new Error("There is no agent");
const { id: agentId, organizationId } = agent;

/** Stores a task as the API does, with its job as the tick makes it. */
async function make(name: string): Promise<void> {
  const id = newId();
  const now = new Date();
  const row = { id, agentId, organizationId, name, prompt: name, anchorAt: now, nextRunAt: now };
  const schedule = { type: "one-shot", runAt: now.toISOString() };
  const outbound = { outboundChannel: "telegram", outboundTarget: name };
  await database.transaction(async (tx) => {
    await tx.insert(scheduledTasks).values({ ...row, ...outbound, schedule });
    await enqueue(tx, dueJob.of({ taskId: id }), { organizationId });
  });
  process.stdout.write(`${name}\n`);
}

const waiting =
  "select from task_runs where status in ('queued', 'running') union all select from jobs where status = 'pending'";

if (moment === "") {
  while ((await database.query(waiting, [])).length > 0) {
    await engine.tick();
    await sleep(20);
  }
  process.exit(0);
}

async function keepMaking(series: number): Promise<void> {
  for (let number = 1; ; number += 1) {
    await make(`${series}:${number}`);
    await sleep(50 + Math.random() * 50);
  }
}

setInterval(() => void engine.tick().catch(() => {}), 100);
await Promise.race([0, 1].map((index) => keepMaking(Number(first) + index)));
