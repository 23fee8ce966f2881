import { asc, eq, inArray } from "drizzle-orm";
import { newId } from "../../../../src/core/ids.ts";
import type { JsonValue } from "../../../../src/core/json.ts";
import {
  agents,
  conversations,
  eventBacklog,
  jobs,
  messages,
  outbox,
  roomEvents,
  rooms,
  turns,
} from "../../../../src/db/schema.ts";
import { converseJob, matchJob, storeEvent } from "../../../../src/features/room/ledger/store.ts";
import type { Verdict } from "../../../../src/features/room/match/schema.ts";
import { type ScriptedCall, type ScriptStep, scriptedModel } from "../../../scripted-model.ts";
import { eventually } from "../../chat/chat.ts";
import { messengerHarness } from "../../inbox/messengers.ts";
import { sourceOf } from "../events.ts";

type Options = NonNullable<Parameters<typeof messengerHarness>[0]>;
type Script = Parameters<typeof scriptedModel>[0];
type Room = Partial<typeof rooms.$inferInsert>;

/** The text of the last user message in a call of the model. */
export function promptOf({ prompt }: Pick<ScriptedCall, "prompt">): string {
  const message = prompt.findLast(({ role }) => role === "user");
  if (message?.role !== "user") return "";
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Whether a call of the model is the matcher's. */
export const isQuestion = (call: Pick<ScriptedCall, "prompt">) => promptOf(call).endsWith("yes or no");

/** A model that gives these answers to the matcher in order, and these replies in turns. */
export function answering(answers: readonly ScriptStep[], replies: readonly ScriptStep[] = []): Script {
  const [questions, talks] = [[...answers], [...replies]];
  return (call) => {
    const step = (isQuestion(call) ? questions : talks).shift();
    if (!step) throw new Error("The model was asked too often");
    return step;
  };
}

/** An agent with an event source, on Telegram; with a Room unless `room` is null. Without a script the demo model answers. */
export async function matching(
  script: Script | null,
  { room = {}, ...options }: Options & { room?: Room | null } = {},
) {
  const model = script === null ? null : scriptedModel(script);
  const h = await messengerHarness({ ...(model ? { model } : {}), ...options });
  const { database } = h.services;
  const { db } = database;
  const [agent] = await db.select().from(agents).where(eq(agents.slug, h.agent.slug));
  if (!agent) throw new Error("The agent is not stored");
  const { id: agentId, organizationId, slug } = agent;
  const source = await sourceOf(h, slug);
  const own = { agentId, organizationId };
  if (room) await db.insert(rooms).values({ ...own, id: newId(), conversationRef: `room:${slug}:1`, ...room });

  const base = `/api/instances/${slug}/event-sources/${source.id}`;
  const post = (path: string, json: unknown) =>
    h.request(`${base}${path}`, { method: "POST", headers: h.agent.headers, json });
  const event = async (id: string) => {
    const [row] = await db.select().from(roomEvents).where(eq(roomEvents.id, id));
    if (!row) throw new Error("The event is not stored");
    return { ...row, verdicts: row.verdicts as Verdict[] };
  };
  const store = async (payload: JsonValue, more: { sourceId?: string } = {}) =>
    database.transaction((tx) =>
      storeEvent(tx, {
        ...own,
        sourceId: source.id,
        receivedAt: new Date(h.clock.now()),
        outcome: "pending",
        payload,
        ...more,
      }),
    );
  /** Runs the due work of events until none is left. Work that falls due soon after a claim waits for the next one. */
  const idle = () =>
    eventually(async () => {
      await h.engine.tick();
      const waiting = await db
        .select()
        .from(jobs)
        .where(inArray(jobs.kind, [matchJob.kind, converseJob.kind]));
      return waiting.every(({ lockedUntil, runAt }) => lockedUntil === null && +runAt > h.clock.now());
    });

  return {
    ...h,
    db,
    agentId,
    slug,
    source,
    base,
    post,
    event,
    store,
    idle,
    model,
    /** Changes the agent, or a part of it, by the API. */
    change: (path: string, json: unknown) =>
      expectOk(h.request(`/api/instances/${slug}${path}`, { method: "PATCH", headers: h.agent.headers, json })),
    remove: (path: string) => expectOk(h.request(`${base}${path}`, { method: "DELETE", headers: h.agent.headers })),
    /** Makes a definition by the API. */
    define: async (fields: Record<string, unknown> = {}) => {
      const usual = { name: "Orders", matchingPrompt: 'It says "order"', action: "conversation" };
      const response = await expectOk(post("/definitions", { ...usual, ...fields }));
      return ((await response.json()) as { id: string }).id;
    },
    /** Stores an event, and runs the due work until none is left. */
    bring: async (payload: JsonValue) => {
      const id = await store(payload);
      await idle();
      return event(id);
    },
    /** Moves the clock to when failed jobs are due again, and runs them. */
    again: async (ms = 60_000) => {
      await idle();
      await h.clock.jump(ms);
      await idle();
    },
    entries: () => db.select().from(eventBacklog).orderBy(asc(eventBacklog.matchedAt)),
    turns: () => db.select().from(turns).orderBy(asc(turns.createdAt)),
    /** The messages in the conversations of a channel. */
    said: async (channel: "room" | "telegram" = "room") => {
      const { role, content, createdAt, seq } = messages;
      const rows = await db
        .select({ role, content })
        .from(messages)
        .innerJoin(conversations, eq(conversations.id, messages.conversationId))
        .where(eq(conversations.channel, channel))
        .orderBy(asc(createdAt), asc(seq));
      return rows.map((row) => `${row.role}: ${row.content}`);
    },
    sent: () => db.select().from(outbox).orderBy(asc(outbox.createdAt), asc(outbox.part)),
  };
}

async function expectOk(answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response;
}
