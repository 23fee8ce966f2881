// Asks its agent question after question, in several conversations, until it kills itself at the given moment.
import type { Database } from "../../src/db/client.ts";
import { createEngine } from "../../src/engine.ts";
import { plainText } from "../plain-text.ts";
import { withFallback } from "./fallback.ts";
import { answeringModel, isWhole, nameOf, requestOf } from "./questions.ts";
import { openPlace, servicesOf } from "./services.ts";

const [, , place = "", slug = "", key = "", name = "", moment = "", ordinal = ""] = process.argv;

let left = Number(ordinal);

/** A moment was reached; at the requested one the process ends. */
function reach(reached: string): void {
  if (reached !== moment) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
}

/** Watches the two statements of a turn. */
function watch(database: Database): Database {
  const query: Database["query"] = async (text, parameters) => {
    const sql = plainText(text);
    // The turns' background work is not done.
    if (sql.includes("set locked_by = ")) return new Promise(() => {});
    const closing = sql.startsWith("with turn as ( update turns set status");
    if (closing) reach("committing");
    const answer = database.query<never>(text, parameters);
    // The statement is being sent by then, and may have run or not.
    if (closing) setImmediate(() => reach("sent"));
    const rows = await answer;
    if (closing) reach("committed");
    if (sql.includes("insert into turns")) reach("opened");
    return rows;
  };
  return { ...database, query };
}

const model = answeringModel(async (reached) => {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
  reach(reached);
});

const database = watch(await openPlace(place));
/** Says nothing until the fallback is in the audit log. */
const waiting = {
  async doStream(): Promise<never> {
    for (;;) {
      const entries = await database.query("select from audit_logs where action = 'provider.fallback'", []);
      if (entries.length > 0) reach("audited");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  },
};
const backup = moment === "audited" ? waiting : model;
const { app } = createEngine({ ...(await servicesOf(database, model)), models: withFallback(backup) });

async function ask(chat: string, number: number): Promise<void> {
  const question = { chat, number };
  const response = await app.request(...requestOf(question, { slug, key }), { remoteAddress: "192.0.2.1" });
  const reply = await response.text();
  if (!isWhole(reply)) throw new Error(`${nameOf(question)}: ${response.status} ${reply}`);
  process.stdout.write(`${nameOf(question)}\n`);
}

/** Two at a time, of which one waits for the other. */
async function converse(chat: string): Promise<void> {
  for (let number = 1; ; number += 2) await Promise.all([ask(chat, number), ask(chat, number + 1)]);
}

if (moment === "after") setTimeout(() => process.kill(process.pid, "SIGKILL"), Number(ordinal));
await Promise.race(["a", "b", "c"].map((letter) => converse(`${name}${letter}`)));
