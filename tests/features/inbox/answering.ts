import { messages, turns } from "../../../src/db/schema.ts";
import { type ScriptStep, scriptedModel } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { messengerHarness } from "./messengers.ts";

type Options = NonNullable<Parameters<typeof messengerHarness>[0]>;

/** An agent whose messages are answered by a scripted model once the test lets the debounce pass. */
export async function answering(script: Parameters<typeof scriptedModel>[0], options: Options = {}) {
  const model = scriptedModel(script);
  const h = await messengerHarness({ model, ...options });
  const { db } = h.services.database;
  const prompts = () =>
    model.calls.map(({ prompt }) =>
      prompt.flatMap(({ role, content }) =>
        role === "user" ? content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
      ),
    );
  return {
    ...h,
    model,
    prompts,
    /** The messages sent or to be sent. */
    sent: async () => (await h.rows()).outbox.map(({ body }) => body),
    statuses: async () => (await h.rows()).inbox.map(({ status }) => status),
    transcript: async () =>
      (await db.select().from(messages).orderBy(messages.seq)).map(({ role, content }) => `${role}: ${content}`),
    turns: async () =>
      (await db.select().from(turns).orderBy(turns.createdAt)).map(({ status, errorCode }) => [status, errorCode]),
    /** Waits until the job after the debounce ran. */
    settle: async () => {
      await h.clock.advance(2_000);
      await h.engine.tick();
    },
    done: (count: number) =>
      eventually(async () => (await h.rows()).inbox.filter(({ status }) => status !== "pending").length >= count),
    /** Waits until no job runs: a job's results may be readable before it ends. */
    rested: () => eventually(async () => (await h.rows()).jobs.every(({ lockedUntil }) => lockedUntil === null)),
    idle: () => eventually(async () => !(await h.rows()).jobs.some(({ kind }) => kind === "inbox.answer")),
  };
}

export const doing = (...steps: ScriptStep[]) => steps;
