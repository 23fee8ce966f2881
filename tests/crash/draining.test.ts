import { eq, sql } from "drizzle-orm";
import { afterAll, expect, test } from "vitest";
import { inbox, jobs, outbox, turns } from "../../src/db/schema.ts";
import { eventually } from "../features/chat/chat.ts";
import { incoming, storing } from "../features/inbox/messengers.ts";
import { startPostgres } from "../real-postgres.ts";
import { bundled } from "./kill.ts";
import { senders } from "./senders.ts";

const server = await startPostgres();
afterAll(() => server?.stop());

const bundle = bundled("sender");

test.skipIf(!server)(
  "two replicas that are killed in the midst of it answer all messages, and send twice only what is marked",
  async () => {
    const h = await senders(server, bundle);
    const store = await storing(h, h.agent.slug);
    const chats = Array.from({ length: 20 }, (_, chat) => String(100 + chat));
    const textsOf = (chat: string) => [1, 2, 3].map((number) => `${chat}: ${number}`);
    for (const chat of chats) {
      await store(...textsOf(chat).map((text) => incoming({ channelId: chat, sender: chat, text })));
    }
    await h.db.update(jobs).set({ runAt: new Date(0) });

    let replicas = [h.begin("never"), h.begin("never")];
    for (const calls of [3, 12]) {
      await eventually(async () => h.calls() >= calls);
      // Both, so that all leases are those of dead processes.
      for (const { child } of replicas) child.kill("SIGKILL");
      for (const { killed, output } of replicas) expect([await killed, output.stderr]).toEqual(["SIGKILL", ""]);
      await h.expire();
      await h.db
        .update(turns)
        .set({ leaseUntil: new Date(0) })
        .where(eq(turns.status, "running"));
      replicas = [h.begin("never"), h.begin("never")];
    }
    const left = async () => {
      const [waiting, unsent] = [eq(inbox.status, "pending"), sql`${outbox.status} in ('pending', 'sending')`];
      return (await h.db.$count(inbox, waiting)) + (await h.db.$count(outbox, unsent)) + (await h.db.$count(jobs));
    };
    // Two processes start once more before that.
    await expect.poll(left, { timeout: 60_000 }).toBe(0);

    const answered = await h.db.execute<{ said: number }>(sql`
      select (select count(*)::int from messages m where m.role = 'user' and m.content = i.payload ->> 'text') as said
      from inbox i join turns t on t.id = i.turn_id and t.status = 'done'
      where i.status = 'done' and exists (
        select from outbox o where o.turn_id = t.id and (o.status = 'sent' or o.may_be_repeated))`);
    expect(answered.map(({ said }) => said)).toEqual(Array(60).fill(1));
    const sent = Map.groupBy(h.telegram.sent, ({ chatId, text }) => `${chatId} ${text}`);
    const twice = [...sent].filter(([, times]) => times.length > 1).map(([reply]) => reply);
    const marked = (await h.rows()).filter(({ mayBeRepeated }) => mayBeRepeated);
    expect(marked.map(({ target, body }) => `${target} ${body}`)).toEqual(expect.arrayContaining(twice));
  },
  120_000,
);
