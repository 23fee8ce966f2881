// Sends messages to a messenger's webhook and answers them until it kills itself at the given moment; with a list of
// messages instead it sends those and ends once all are answered.
import { setTimeout as sleep } from "node:timers/promises";
import { createMessengers } from "../../src/adapters/messengers/index.ts";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { createEngine } from "../../src/engine.ts";
import { finish, scriptedModel, text } from "../scripted-model.ts";
import { withFallback } from "./fallback.ts";
import { dieAt } from "./moments.ts";
import { openPlace, servicesOf } from "./services.ts";

const [, , place = "", slug = "", first = "", moment = "", ordinal = ""] = process.argv;

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
const database = watch(await openPlace(place), "inbox.answer");
const engine = createEngine({
  ...(await servicesOf(database, model)),
  models: withFallback(model),
  messengers: { account: (...of) => ({ ...real.account(...of), typingMs: null, send: async () => "1" }) },
});
// As a server does: without it, a job that takes longer than a lease would be taken over.
setInterval(() => void engine.renewLeases().catch(() => {}), 5_000);

/** Sends the message `number` of a chat, as Telegram does. */
async function bring(chat: number, number: number): Promise<void> {
  const person = { id: chat, is_bot: false, first_name: "Ada" };
  const message = {
    message_id: number,
    from: person,
    chat: { id: chat, type: "private" },
    date: 1,
    text: `${chat}:${number}`,
  };
  const headers = { "Content-Type": "application/json", "X-Telegram-Bot-Api-Secret-Token": "hook-secret" };
  const init = { method: "POST", headers, body: JSON.stringify({ update_id: number, message }) };
  const { status } = await engine.app.request(`/webhooks/telegram/${slug}`, init, { remoteAddress: "192.0.2.1" });
  if (status !== 200) throw new Error(`${chat}:${number} got ${status}`);
  process.stdout.write(`${chat}:${number}\n`);
}

const waiting = "select from inbox where status = 'pending' union all select from jobs where status = 'pending'";

if (moment === "") {
  for (const name of JSON.parse(first) as string[]) {
    const [chat = 0, number = 0] = name.split(":").map(Number);
    await bring(chat, number);
  }
  while ((await database.query(waiting, [])).length > 0) {
    await engine.tick();
    await sleep(20);
  }
  process.exit(0);
}

/**
 * New messages, each third of which is sent twice. A burst without a pause would be answered after 10 seconds only. After
 * ten messages another chat begins: a killed process may hold the job of this one.
 */
async function converse(first: number): Promise<void> {
  for (let sent = 0; ; sent += 1) {
    const chat = first + 3 * Math.floor(sent / 10);
    const number = (sent % 10) + 1;
    await bring(chat, number);
    if (number % 3 === 0) await bring(chat, number);
    await sleep(50 + Math.random() * 50);
  }
}

setInterval(() => void engine.tick().catch(() => {}), 100);
await Promise.race([0, 1, 2].map((index) => converse(Number(first) + index)));
