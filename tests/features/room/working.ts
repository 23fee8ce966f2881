import { asc, eq } from "drizzle-orm";
import { newId } from "../../../src/core/ids.ts";
import type { JsonValue } from "../../../src/core/json.ts";
import { agents, eventBacklog, eventDefinitions, jobs, roomEvents, rooms, turns } from "../../../src/db/schema.ts";
import { addToBacklog } from "../../../src/features/room/backlog/add.ts";
import { telegramToken } from "../../messengers/telegram-server.ts";
import { finish, type ScriptedCall, type ScriptStep, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { nextMessage, privateUpdate } from "../inbox/messengers.ts";
import { adaTarget, messaging } from "../inbox/sending.ts";
import { sourceOf } from "./events.ts";

type Options = NonNullable<Parameters<typeof messaging>[0]>;

interface Circumstances extends Omit<Options, "model"> {
  room?: Partial<typeof rooms.$inferInsert>;
  agent?: Partial<typeof agents.$inferInsert>;
}

/** An agent on Telegram with a Room, whose turns a script answers once the test lets a tick run. */
export async function workingRoom(
  script: Parameters<typeof scriptedModel>[0],
  { room: fields = {}, agent: traits, ...options }: Circumstances = {},
) {
  const model = scriptedModel(script);
  const h = await messaging({ ...options, model });
  const { db, agent, clock } = h;
  const { database } = h.services;
  const channel = { botToken: telegramToken, webhookSecret: "hook-secret", transport: "webhook" };
  await h.turnOn(agent.id, "telegram", channel);
  await db
    .update(agents)
    .set({ debounceMs: 0, ...traits })
    .where(eq(agents.id, agent.id));
  const owner = { agentId: agent.id, organizationId: h.organization.id };
  const ref = `room:support:${clock.now()}`;
  const outbound = { outboundChannel: "telegram", outboundTarget: adaTarget };
  const createdAt = new Date(clock.now());
  await db.insert(rooms).values({ id: newId(), ...owner, conversationRef: ref, ...outbound, createdAt, ...fields });
  const source = await sourceOf(h, "support");
  let priority = 0;
  const define = async (more: Partial<typeof eventDefinitions.$inferInsert> = {}) => {
    priority += 1;
    const row = { id: newId(), sourceId: source.id, agentId: agent.id, priority, matchingPrompt: "Any" };
    await db.insert(eventDefinitions).values({ ...row, name: "New order", action: "backlog", ...more });
    return row.id;
  };
  const usual = await define();
  /** Puts an event into the backlog; answers the entry's id. */
  const add = async (payload: JsonValue, definitionId = usual) => {
    const roomEventId = newId();
    const event = { id: roomEventId, ...owner, sourceId: source.id, receivedAt: new Date(clock.now()), payload };
    await db.insert(roomEvents).values(event);
    const added = await database.transaction((tx) =>
      addToBacklog(tx, { ...owner, roomEventId, definitionId, payload, now: clock.now() }),
    );
    if (added.outcome !== "backlog") throw new Error(added.outcome);
    return added.backlogId;
  };
  const entries = () => db.select().from(eventBacklog).orderBy(asc(eventBacklog.matchedAt), asc(eventBacklog.id));
  const room = async () => {
    const [row] = await db.select().from(rooms).where(eq(rooms.agentId, agent.id));
    if (!row) throw new Error("There is no Room");
    return row;
  };
  /** Waits until no job runs or could run. */
  const rested = () =>
    eventually(async () => {
      const all = await db.select().from(jobs);
      return all.every(({ lockedUntil, runAt }) => lockedUntil === null && runAt.getTime() > clock.now());
    });
  /** Lets the scheduler tick once more after `ms`, and waits for the work it begins. */
  const tick = async (ms = 30_000) => {
    await rested();
    await clock.jump(ms);
    await h.engine.tick();
    await rested();
  };
  return {
    ...h,
    model,
    ref,
    define,
    add,
    entries,
    room,
    tick,
    rested,
    owner,
    /** A person writes to the agent; by default the one of the Room's destination. */
    say: async (words: string, from = Number(adaTarget)) => {
      const headers = { "X-Telegram-Bot-Api-Secret-Token": "hook-secret" };
      const json = privateUpdate(words, nextMessage(), from);
      const response = await h.request("/webhooks/telegram/support", { method: "POST", headers, json });
      if (response.status !== 200) throw new Error(`The webhook answered ${response.status}`);
    },
    statuses: async () => (await entries()).map(({ status, attempts }) => `${status} ${attempts}`),
    /** The inputs of the Room's turns, in order. */
    told: () => model.calls.filter((call) => call.prompt.at(-1)?.role === "user" && !isCompaction(call)).map(lastText),
    compactions: () => model.calls.filter(isCompaction).map(lastText),
    turns: async () => {
      const all = await db.select().from(turns).where(eq(turns.door, "room")).orderBy(asc(turns.createdAt));
      return all.map(({ status }) => status);
    },
  };
}

/** Whether a call asks for a summary, also for the second time, with the first answer after the question. */
export const isCompaction = ({ prompt }: Pick<ScriptedCall, "prompt">) =>
  lastText({ prompt: prompt.filter(({ role }) => role === "user") }).startsWith("You keep the notes of");

/** The text of the last message of a prompt. */
export function lastText({ prompt }: Pick<ScriptedCall, "prompt">): string {
  const content = prompt.at(-1)?.content;
  return Array.isArray(content) ? content.map((part) => (part.type === "text" ? part.text : "")).join("") : "";
}

/** The ids of the events in a prompt. */
export const eventIds = (told: string) => [...told.matchAll(/^Event ([0-9a-f-]{36})/gm)].map(([, id]) => id ?? "");

/** A step that calls tools. */
export const calling = (...calls: [name: string, args: unknown][]): ScriptStep => ({
  parts: [
    calls.flatMap(([name, args], index) => toolCall(`call_${newId()}_${index}`, name, args)),
    finish("tool-calls"),
  ],
});

/** A step that ends a turn. */
export const ending = (words = "Done."): ScriptStep => ({ parts: [text(words), finish()] });

/** A model that marks all its given events, and then ends the turn. */
export const marking = (call: ScriptedCall): ScriptStep => {
  const ids = call.prompt.at(-1)?.role === "user" ? eventIds(lastText(call)) : [];
  return ids.length === 0 ? ending() : calling(["markEventsCompleted", { eventIds: ids, notes: "Looked at it" }]);
};
