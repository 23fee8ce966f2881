import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { inbox, jobs } from "../../../src/db/schema.ts";
import { finish, gate, reply, text } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { answering, doing } from "./answering.ts";
import { incoming, messengerHarness, saveChannel, storing } from "./messengers.ts";

/** When the job that answers is due, in milliseconds from now. */
async function dueIn({ rows, clock }: Awaited<ReturnType<typeof messengerHarness>>): Promise<number | undefined> {
  const job = (await rows()).jobs.find(({ kind }) => kind === "inbox.answer");
  return job && job.runAt.getTime() - clock.now();
}

test("a burst is answered after ten times the debounce, whatever still comes", async () => {
  const h = await answering(() => reply("Yes."), { agent: { debounceMs: 2_000 } });
  const due: (number | undefined)[] = [];
  for (let at = 0; at < 20; at += 1) {
    await h.say(`Part ${at}`);
    due.push(await dueIn(h));
    await h.clock.advance(1_000);
  }
  expect(due.slice(0, 19)).toEqual(Array.from({ length: 19 }, () => 2_000));
  expect(due[19]).toBe(1_000);
  await h.engine.tick();
  await h.done(20);
  expect(h.prompts()[0]).toHaveLength(20);
});

test("a short debounce ends a burst after ten seconds, and the next message begins another one", async () => {
  const h = await answering(() => reply("Yes."), { agent: { debounceMs: 600 } });
  for (let at = 0; at < 20; at += 1) {
    await h.say(`Part ${at}`);
    expect(await dueIn(h)).toBe(at < 19 ? 600 : 500);
    await h.clock.advance(500);
  }
  await h.clock.advance(500);
  await h.engine.tick();
  await h.done(20);
  await h.idle();
  expect(h.prompts()).toHaveLength(1);
  await h.say("Another");
  expect(await dueIn(h)).toBe(600);
});

test("a message that comes while earlier ones wait for another try is debounced all the same", async () => {
  const h = await messengerHarness({ agent: { debounceMs: 1_000 } });
  await h.say("One");
  const soon = new Date(h.clock.now() + 60_000);
  await h.services.database.db.update(jobs).set({ lastError: "The model is away", runAt: soon });
  await h.clock.advance(20_000);
  await h.say("Two");
  expect(await dueIn(h)).toBe(1_000);
});

const channelId = "D1";
const slackMessage = (ts: string, fields: object = {}) =>
  incoming({ providerId: `${channelId}:${ts}`, channelId, sender: "U1", ...fields });

test("a message that is taken back before its turn begins is not answered, nor are its edits", async () => {
  const h = await answering(doing(reply("Two, then.")), { names: ["slack"] });
  const store = await storing(h, h.agent.slug, "slack");
  const first = slackMessage("1.1", { text: "My password is hunter2" });
  const edit = { ...first, providerId: `${first.providerId}:9`, text: "hunter3", edits: first.providerId };
  await store(first, edit, slackMessage("1.2", { text: "Two" }));
  await store({ deletes: first.providerId, channelId });
  await store({ deletes: `${channelId}:1.7`, channelId }, { deletes: "D9:1.1", channelId: "D9" });
  expect(await h.statuses()).toEqual(["dropped", "dropped", "pending"]);
  await h.settle();
  await h.idle();
  expect(h.prompts()).toEqual([["Two"]]);
  await store({ deletes: `${channelId}:1.2`, channelId });
  expect(await h.statuses()).toEqual(["dropped", "dropped", "done"]);
});

test("a turn that began is brought to its end although its message is taken back", async () => {
  const held = gate();
  const h = await answering(doing({ parts: [...text("Done"), held.promise, ...text("."), finish()] }), {
    names: ["slack"],
  });
  const store = await storing(h, h.agent.slug, "slack");
  await store(slackMessage("1.1", { text: "Do it" }));
  await h.clock.advance(2_000);
  await h.engine.tick();
  await eventually(async () => h.model.calls.length === 1);
  await store({ deletes: `${channelId}:1.1`, channelId });
  expect(await h.statuses()).toEqual(["pending"]);
  held.open();
  await h.done(1);
  expect(await h.statuses()).toEqual(["done"]);
});

test("no message of another agent can be taken back", async () => {
  const h = await messengerHarness({ names: ["slack"] });
  const store = await storing(h, h.agent.slug, "slack");
  await store(slackMessage("1.1"));
  const { db } = h.services.database;
  const other = await h.another();
  await saveChannel(h, other.slug, "slack");
  await (await storing(h, other.slug, "slack"))({ deletes: `${channelId}:1.1`, channelId });
  expect(await db.select().from(inbox).where(eq(inbox.status, "pending"))).toHaveLength(1);
});
