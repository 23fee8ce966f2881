import { eq } from "drizzle-orm";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import type { Incoming } from "../../../src/core/channels/messengers.ts";
import { localNotify } from "../../../src/core/notify.ts";
import { conversations, inbox, jobs, messages, outbox, turns } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { openTestDatabase } from "../../database.ts";
import { finish, scriptedModel, text } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { incoming, messengerHarness, storing } from "./messengers.ts";

/** The texts of the newest messages of the user in a prompt. */
const asked = (model: ReturnType<typeof scriptedModel>) => model.calls.map(({ prompt }) => JSON.stringify(prompt));

/** Two replicas on one database, whose workers both run. */
async function replicas() {
  const { database, close } = await openTestDatabase();
  const model = scriptedModel(() => ({ parts: [...text("Ok."), finish()] }));
  const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
  const notify = localNotify(log);
  const h = await messengerHarness({ database, model, notify, agent: { debounceMs: 0 } });
  const other = createEngine(h.services);
  onTestFinished(async () => {
    await other.stop(0);
    await h.engine.stop(0);
    await close();
  });
  return { ...h, other, model, db: database.db };
}

const runs = 120;

/** Deliveries of a few messages in some order, each at least once, several at a time. */
const schedules = fc.integer({ min: 1, max: 5 }).chain((count) =>
  fc.record({
    count: fc.constant(count),
    chats: fc.array(fc.integer({ min: 0, max: 1 }), { minLength: count, maxLength: count }),
    more: fc.array(fc.integer({ min: 0, max: count - 1 }), { maxLength: 6 }),
    shuffle: fc.infiniteStream(fc.nat()),
    together: fc.integer({ min: 1, max: 4 }),
  }),
);

test("redeliveries, shuffles and duplicates at the same time: each message is answered by one turn", {
  timeout: 240_000,
}, async () => {
  const h = await replicas();
  const store = await storing(h, h.agent.slug);
  let run = 0;
  await fc.assert(
    fc.asyncProperty(schedules, async ({ count, chats, more, shuffle, together }) => {
      run += 1;
      const said = Array.from({ length: count }, (_, index): Incoming => {
        const channelId = `${run}${chats[index]}`;
        return incoming({ channelId, sender: channelId, providerId: `${run}:${index}`, text: `m${run}-${index}` });
      });
      const deliveries = [...said, ...more.map((index) => said[index] as Incoming)]
        .map((message) => ({ message, at: shuffle.next().value as number }))
        .sort((a, b) => a.at - b.at)
        .map(({ message }) => message);
      while (deliveries.length > 0) {
        // A polling process gets several in one batch, webhooks get them at the same time.
        const [first, ...others] = deliveries.splice(0, together);
        if (!first) break;
        await Promise.all([store(first, ...others.slice(0, 1)), ...others.map((message) => store(message))]);
        if (together % 2 === 0) await Promise.all([h.engine.tick(), h.other.tick()]);
      }
      await eventually(async () => {
        await Promise.all([h.engine.tick(), h.other.tick()]);
        const [left] = await h.db.select().from(inbox).where(eq(inbox.status, "pending")).limit(1);
        const [job] = await h.db.select().from(jobs).where(eq(jobs.kind, "inbox.answer")).limit(1);
        return !left && !job;
      });
      const rows = (await h.db.select().from(inbox)).filter(({ providerId }) => providerId.startsWith(`${run}:`));
      expect(rows.map(({ providerId }) => providerId).sort()).toEqual(said.map(({ providerId }) => providerId).sort());
      expect(rows.every(({ status }) => status === "done")).toBe(true);
      const ends = await h.db.select().from(turns).where(eq(turns.status, "done"));
      const own = new Set(rows.map(({ turnId }) => turnId));
      const stored = await h.db.select().from(messages).where(eq(messages.role, "user"));
      // Each text is in the transcript once, and each turn has one reply.
      for (const { text: content, providerId } of said) {
        const found = stored.filter((message) => message.content === content);
        expect(found).toHaveLength(1);
        const row = rows.find((one) => one.providerId === providerId);
        expect(found[0]?.turnId).toBe(row?.turnId);
      }
      const sent = (await h.db.select().from(outbox)).filter(({ turnId }) => turnId !== null && own.has(turnId));
      expect(sent).toHaveLength(own.size);
      expect(ends.filter(({ id }) => own.has(id))).toHaveLength(own.size);
      const [open] = await h.db.select().from(conversations).where(eq(conversations.openTurns, 1));
      expect(open).toBeUndefined();
    }),
    { numRuns: runs, seed: 7 },
  );
  expect(asked(h.model).length).toBeGreaterThan(runs - 1);
});
