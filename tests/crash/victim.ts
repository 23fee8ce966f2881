// Asks its agent question after question, in several conversations, until it kills itself at the moment it is told.
import { shippedAssets } from "../../src/adapters/node/assets.ts";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { openEmbedded } from "../../src/adapters/node/embedded/database.ts";
import type { Services } from "../../src/context.ts";
import { Admission } from "../../src/core/admission/admission.ts";
import { createCipher } from "../../src/core/cipher.ts";
import { localNotify } from "../../src/core/notify.ts";
import { CurrentPolicies } from "../../src/core/policies.ts";
import type { Log } from "../../src/core/ports.ts";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { createEngine } from "../../src/engine.ts";
import { plainText } from "../plain-text.ts";
import { memoryFiles } from "../stored-files.ts";
import { answeringModel, isWhole, nameOf, requestOf } from "./questions.ts";

const [, , place = "", slug = "", key = "", name = "", moment = "", ordinal = ""] = process.argv;

let left = Number(ordinal);

/** A moment came; the one that was asked for is the last. */
function reach(reached: string): void {
  if (reached !== moment) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
}

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

async function open(): Promise<Database> {
  const options = { prepare: true, deadlineMs: 60_000, clock: systemClock };
  if (place.startsWith("postgres:")) return openDatabase({ url: place }, { ...options, max: 6 });
  return openDatabase((await openEmbedded(place, silent, null)).target, { ...options, max: 1 });
}

/** Watches the two statements of a turn. */
function watch(database: Database): Database {
  const query: Database["query"] = async (text, parameters) => {
    const sql = plainText(text);
    // What the turns leave for the background stays there.
    if (sql.includes("set locked_by = ")) return new Promise(() => {});
    const closing = sql.startsWith("with turn as ( update turns set status");
    if (closing) reach("committing");
    const answer = database.query<never>(text, parameters);
    // The statement is on its way by then, and nobody knows how far it came.
    if (closing) setImmediate(() => reach("sent"));
    const rows = await answer;
    if (closing) reach("committed");
    if (sql.includes("insert into turns")) reach("opened");
    return rows;
  };
  return { ...database, query };
}

const refuse = async () => Promise.reject(new Error("There is nothing here"));

const model = answeringModel(async (reached) => {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
  reach(reached);
});

const services: Services = {
  database: watch(await open()),
  clock: systemClock,
  log: silent,
  admission: new Admission({ clock: systemClock, log: silent }),
  cipher: await createCipher([new Uint8Array(32).fill(7)]),
  assets: shippedAssets,
  passwords: { hash: refuse, verify: refuse, verifyBcrypt: refuse },
  scripts: { run: refuse },
  policies: new CurrentPolicies(),
  notify: localNotify(silent),
  egress: { request: async ({ url }) => ({ status: 200, headers: {}, body: "looked up", url }) },
  messengers: {
    account() {
      throw new Error("There is nobody here");
    },
  },
  mcp: { list: refuse, call: refuse, forget: () => {}, close: async () => {} },
  files: memoryFiles(),
  models: { resolve: async () => model },
  options: {
    version: "0.0.0",
    trustProxy: 1,
    chatRequestsPerMinute: 20,
    baseUrl: "http://localhost:4000",
    environmentKeys: new Map(),
    soleProcess: false,
    allowStdioMcp: false,
  },
};
const { app } = createEngine(services);

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
