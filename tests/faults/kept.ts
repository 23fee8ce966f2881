import { expect } from "vitest";
import type { Cluster } from "./cluster.ts";
import type { Load } from "./load.ts";
import { replyTo } from "./model.ts";

/** Work that is not at its end. */
const unfinished = `select
  (select count(*)::int from turns where status in ('queued', 'running')) as turns,
  (select count(*)::int from inbox where status = 'pending') as inbox,
  (select count(*)::int from outbox where status <> 'sent') as outbox,
  (select count(*)::int from room_events where outcome = 'pending') as events,
  (select count(*)::int from conversations where open_turns <> 0) as conversations,
  (select coalesce(sum(reserved), 0)::int from budget_periods) -
    (select coalesce(sum(tokens), 0)::int from budget_holds where lease_until > now()) as tokens,
  (select count(*)::int from jobs where status = 'failed') as failed`;

const nothing = { turns: 0, inbox: 0, outbox: 0, events: 0, conversations: 0, tokens: 0, failed: 0 };

/** Expects each acknowledged question stored once and in order, and nothing left open. */
export async function expectKept(cluster: Cluster, load: Load): Promise<void> {
  expect(load.wrong).toEqual([]);
  const open = () => cluster.query<typeof nothing>(unfinished);
  // A dead process's leases last 30 seconds; what they held is looked for each 30 seconds.
  await expect.poll(open, { timeout: 150_000, interval: 1_000 }).toEqual([nothing]);

  const stored = await cluster.query<{ ref: string; said: string[]; seqs: number[] }>(
    `select c.ref, json_agg(m.content order by m.seq) as said, json_agg(m.seq order by m.seq) as seqs
     from conversations c join messages m on m.conversation_id = c.id group by c.ref`,
  );
  const saidIn = new Map(stored.map(({ ref, said }) => [ref, said]));
  for (const [ref, questions] of load.asked) {
    expect([ref, saidIn.get(ref)]).toEqual([ref, questions.flatMap((text) => [text, replyTo(text)])]);
  }
  for (const { ref, seqs } of stored) expect([ref, seqs]).toEqual([ref, seqs.map((_, index) => index + 1)]);

  const events = await cluster.query<{ mark: string; outcome: string; ref: string }>(
    `select payload->>'mark' as mark, outcome, conversation_ref as ref from room_events order by received_at`,
  );
  expect(new Set(events.map(({ outcome }) => outcome))).toEqual(new Set(["conversation"]));
  // An event whose acknowledgement was lost is there too.
  const marks = events.map(({ mark }) => mark);
  expect(marks).toEqual([...new Set(marks)]);
  expect(marks).toEqual(expect.arrayContaining(load.events));
  for (const { mark, ref } of events) {
    expect([mark, saidIn.get(ref)?.length]).toEqual([mark, 2]);
  }
}

/** The parts that Telegram got twice: their sending was acknowledged, but the server died before it stored that. */
export function repeatedParts({ telegram }: Cluster): number {
  return telegram.sent.length - new Set(telegram.sent.map(({ text }) => text)).size;
}
