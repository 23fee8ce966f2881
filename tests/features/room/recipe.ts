import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { expect } from "vitest";
import { agents, jobs } from "../../../src/db/schema.ts";
import { telegramToken } from "../../messengers/telegram-server.ts";
import { runScript } from "../../runtime/curl.ts";
import { fillIn, root } from "../../runtime/pages.ts";
import { dataDirectory } from "../../runtime/program.ts";
import { type ScriptedCall, type ScriptStep, scriptedModel } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { nextMessage, privateUpdate } from "../inbox/messengers.ts";
import { adaTarget, messaging } from "../inbox/sending.ts";
import { lastText } from "./working.ts";

/** A sender's payload as it arrives. */
export const payloadOf = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, "payloads", `${name}.json`), "utf8"));

/** An event as the ledger shows it. */
interface Shown {
  id: string;
  payload: unknown;
  outcome: string;
  reason: string | null;
  conversationId: string | null;
  backlogId: string | null;
  verdicts: { answer: string | null; matched: boolean; condition?: { path: string } }[];
}

/** An entry as the backlog shows it. */
interface ShownEntry {
  id: string;
  status: string;
  reactNotes: string | null;
}

type Options = Omit<NonNullable<Parameters<typeof messaging>[0]>, "model">;
type Talk = (call: ScriptedCall) => ScriptStep;

const page = readFileSync(join(root, "docs/room.md"), "utf8");
const origin = "http://localhost:4000";
const senderKey = "the-key-that-the-sender-has";

/** The shell snippets of the page between a heading and the next one. */
function snippetsUnder(heading: string): string {
  const [, section = ""] = page.split(`\n${heading}\n`);
  const text = section.split(/^##/m)[0] ?? "";
  const found = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, snippet = ""]) => snippet);
  if (found.length === 0) throw new Error(`docs/room.md has no calls under ${heading}`);
  return found.join("\n");
}

/** An agent on Telegram set up by the calls of a recipe in docs/room.md, whose replies come from `talk`. */
export async function cooked(heading: string, talk: Talk, options: Options = {}) {
  const model = scriptedModel((call) => talk(call));
  const h = await messaging({ ...options, model });
  const { db, clock } = h;
  const agent = await h.addAgent({ slug: "assistant", provider: "openai", model: "gpt-x" });
  await db.update(agents).set({ debounceMs: 0 }).where(eq(agents.id, agent.id));
  await h.turnOn(agent.id, "telegram", { botToken: telegramToken, webhookSecret: "hook-secret", transport: "webhook" });

  const variables = /```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  const KEY = await managementKey(h, agent.headers);
  const script = [variables, snippetsUnder("## Recipes"), snippetsUnder(`### ${heading}`)].join("\n");
  const { calls, ...ended } = await runScript(fillIn(script, { KEY, SENDER_KEY: senderKey }), {
    directory: dataDirectory(),
    origin,
    fetch: (address, init) => h.request(address.slice(origin.length), init),
  });
  const refused = calls.filter(({ status }) => status < 200 || status > 299);
  expect({ refused, ...ended }).toEqual({ refused: [], status: 0, stderr: "" });
  const made = calls.find(({ asked }) => asked.endsWith("/event-sources"));
  const hook = made ? (JSON.parse(made.answer) as { webhookUrl: string }).webhookUrl.slice(origin.length) : "";

  /** Waits until no job runs or could run. */
  const rested = () =>
    eventually(async () => {
      await h.engine.tick();
      const all = await db.select().from(jobs);
      return all.every(({ lockedUntil, runAt }) => lockedUntil === null && runAt.getTime() > clock.now());
    });
  /** Lets time pass with the scheduler's next tick, and runs the due work. */
  const pass = async (ms = 30_000) => {
    await rested();
    await clock.jump(ms);
    await rested();
  };
  const read = async (path: string) =>
    (await h.request(`/api/instances/assistant${path}`, { headers: agent.headers })).json();
  return {
    ...h,
    model,
    pass,
    read,
    /** The sender's call; answers its response. All work that it causes is done by then. */
    send: async (body: BodyInit, headers: Record<string, string> = { "Content-Type": "application/json" }) => {
      const response = await h.request(hook, { method: "POST", headers, body });
      const answer = [response.status, await response.json()];
      await pass();
      return answer;
    },
    /** A person writes to the agent in the chat of the page. */
    say: async (text: string) => {
      const headers = { "X-Telegram-Bot-Api-Secret-Token": "hook-secret" };
      const json = privateUpdate(text, nextMessage(), Number(adaTarget));
      const response = await h.request("/webhooks/telegram/assistant", { method: "POST", headers, json });
      expect(response.status).toBe(200);
      await pass();
    },
    /** The newest first. */
    ledger: async () => ((await read("/room/events")) as { events: Shown[] }).events,
    backlog: async () => ((await read("/room/backlog")) as { events: ShownEntry[] }).events,
    /** The messages people got in the chat of the page. */
    readByPeople: () => h.telegram.sent.map(({ chatId, text }) => [String(chatId), text]),
    /** The model's input in turns and questions. */
    told: () => model.calls.map(lastText),
  };
}

/** The header of a sender that has the source's key. */
export const proven = { "Content-Type": "application/json", Authorization: `Bearer ${senderKey}` };

async function managementKey(
  { request, organization }: Pick<Awaited<ReturnType<typeof messaging>>, "request" | "organization">,
  headers: Record<string, string>,
): Promise<string> {
  const path = `/api/organizations/${organization.slug}/management-keys`;
  const response = await request(path, { method: "POST", headers, json: { name: "recipes" } });
  return ((await response.json()) as { key: string }).key;
}

/** Whether the matcher asks. */
export const isQuestion = (call: ScriptedCall) => lastText(call).endsWith("yes or no");
