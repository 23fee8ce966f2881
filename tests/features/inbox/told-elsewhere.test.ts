import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Services } from "../../../src/context/ctx.ts";
import { newId } from "../../../src/core/ids.ts";
import type { Db } from "../../../src/db/client.ts";
import { conversations, outbox } from "../../../src/db/schema.ts";
import { echoJobs } from "../../../src/features/inbox/outbox/echo.ts";
import { takeOverTold } from "../../../src/features/inbox/outbox/named-person.ts";
import { dialect } from "../../database.ts";
import { handlerOf } from "../../jobs/jobs.ts";
import { countReads } from "../../plan.ts";
import { eventually } from "../chat/chat.ts";
import { incoming, storing } from "./messengers.ts";
import { adaTarget, paragraphs } from "./sending.ts";
import { roomRef, withRoom } from "./told.ts";

test("a message sent to a person by their id is part of the private chat in which they write, once they have written", async () => {
  const h = await withRoom();
  await h.turnOn(h.agent.id, "slack");
  const store = await storing(h, "support", "slack");
  const written = incoming({ channelId: "D1:7.7", sender: "U1", text: "Hello" });
  await store({ ...written, channelId: "C1:8.8", isPrivate: false, providerId: "in public" }, written);
  const turnId = await h.work("The shelf is empty");
  const ask = (target: string) => h.say(`Shall I order more, ${target}?`, { turnId, channel: "slack", target });
  await ask("U1");
  await ask("U2");
  await ask("C1");
  await h.isEchoed();
  expect(await h.said("support:slack:D1")).toEqual([[1, "assistant", "Shall I order more, U1?"]]);
  expect(await h.said("support:slack:U2")).toEqual([[1, "assistant", "Shall I order more, U2?"]]);
  expect(await h.said("support:slack:C1")).toEqual([[1, "assistant", "Shall I order more, C1?"]]);
});

test("what is sent to a person by their id before they wrote is part of the private chat from their first message on", async () => {
  const h = await withRoom();
  await h.turnOn(h.agent.id, "slack");
  const turnId = await h.work("The shelf is empty");
  const ask = (text: string) => h.say(text, { turnId, channel: "slack", target: "U1" });
  await ask("Shall I order more?");
  await ask("And paint it?");
  await h.isEchoed();
  const before = await h.said("support:slack:U1");
  expect(before).toHaveLength(2);
  const store = await storing(h, "support", "slack");
  const write = (fields: object) => store(incoming({ channelId: "D1", sender: "U1", text: "Yes", ...fields }));
  await write({ channelId: "D2", sender: "U2" });
  await write({ channelId: "C1", isPrivate: false });
  expect(await h.said("support:slack:U1")).toEqual(before);
  await write({});
  await write({});
  expect(await h.said("support:slack:D1")).toEqual(before);
  expect(await h.conversation("support:slack:D1")).toMatchObject({ lastSeq: 2, messageCount: 2, lastInboxSeq: 2 });
  expect(await h.conversation("support:slack:U1")).toMatchObject({ messageCount: 0 });
  await ask("Well?");
  await h.isEchoed();
  expect(await h.said("support:slack:D1")).toEqual([...before, [3, "assistant", "Well?"]]);
});

test("a message sent to a channel of Slack is the context of an answer in its thread", async () => {
  const h = await withRoom();
  await h.turnOn(h.agent.id, "slack");
  const place = { channel: "slack", target: "C1" } as const;
  const turnId = await h.work("The shelf is empty");
  const [first, second] = [paragraphs(9), "And paint it?"];
  await h.say(first, { ...place, turnId });
  await h.say(second, { ...place, turnId });
  await h.allSent();
  await h.isEchoed();
  const store = await storing(h, "support", "slack");
  const write = (thread: string, providerId: string) =>
    store(incoming({ channelId: `C1:${thread}`, providerId, sender: "U1", isPrivate: false, text: "Yes, do it" }));
  const [, part = "", ...others] = h.slack.sent.map(({ ts }) => ts);
  const last = others.at(-1) ?? "";
  for (const root of [part, last]) {
    await write(root, `C1:7.${root}`);
    await write(root, `C1:8.${root}`);
  }
  await h.say("To you alone", { channel: "slack", target: "U1", turnId });
  await h.allSent();
  await h.isEchoed();
  const alone = h.slack.sent.at(-1)?.ts;
  await store(incoming({ channelId: `D1:${alone}`, sender: "U1", text: "Yes" }));
  expect(await h.said(`support:slack:D1:${alone}`)).toEqual([[1, "assistant", "To you alone"]]);
  await write("9.9", "C1:9.9");
  await write("6.6", "C1:9.8");
  expect(await h.said(`support:slack:C1:${part}`)).toEqual([[1, "assistant", first]]);
  expect(await h.said(`support:slack:C1:${last}`)).toEqual([[1, "assistant", second]]);
  expect(await h.transcript(`support:slack:C1:${last}`)).toMatchObject([
    { turnId: null, metadata: { sentBy: { turnId, conversationId: roomRef } } },
  ]);
  expect(await h.conversation(`support:slack:C1:${last}`)).toMatchObject({ lastSeq: 1, messageCount: 1 });
  expect([await h.said("support:slack:C1:9.9"), await h.said("support:slack:C1:6.6")]).toEqual([[], []]);
});

test("what is sent to a person alone is not said in a topic of a group in which they write", async () => {
  const h = await withRoom();
  const turnId = await h.work("The shelf is empty");
  await h.say("To you alone", { turnId });
  await h.allSent();
  await h.isEchoed();
  const [sent] = await h.rows();
  const topic = `-100:${sent?.providerMessageId}`;
  const store = await storing(h, "support");
  await store(incoming({ channelId: topic, providerId: "-100:9", sender: adaTarget, isPrivate: false }));
  expect(await h.said(`support:telegram:${topic}`)).toEqual([]);
});

test("a message sent to a person by their id is in order, and the chat is theirs, also when a thread was first", async () => {
  const h = await withRoom();
  await h.turnOn(h.agent.id, "slack");
  const turnId = await h.work("The shelf is empty");
  const ask = async (text: string) => {
    await h.say(text, { turnId, channel: "slack", target: "U1" });
    await h.isEchoed();
  };
  const store = await storing(h, "support", "slack");
  await ask("Shall I order more?");
  await store(incoming({ channelId: "D1:7.7", sender: "U1", text: "Hello" }));
  await ask("And paint it?");
  await store(incoming({ channelId: "D1", sender: "U1", text: "Yes" }));
  expect(await h.said("support:slack:D1")).toEqual([
    [1, "assistant", "Shall I order more?"],
    [2, "assistant", "And paint it?"],
  ]);
  expect(await h.conversation("support:slack:D1")).toMatchObject({ subject: "slack:U1", messageCount: 2 });
});

test("what a new chat or thread begins with is found without a look at all messages and conversations of the agent", async () => {
  const h = await withRoom();
  await h.turnOn(h.agent.id, "slack");
  const turnId = await h.work("The shelf is empty");
  await h.say("Shall I order more?", { turnId, channel: "slack", target: "U1" });
  await h.allSent();
  await h.isEchoed();
  const others = Array.from({ length: 2_000 }, (_, nth) => nth);
  const of = { agentId: h.agent.id, channel: "slack" };
  const sent = { ...of, target: "C2", body: "Hello", status: "sent" };
  await h.db
    .insert(outbox)
    .values(others.map((nth) => ({ ...sent, id: newId(), turnId: newId(), providerMessageId: `2.${nth}` })));
  await h.db.insert(conversations).values(
    others.map((nth) => {
      const [channelId, subject] = [`D2${nth}`, `slack:U2${nth}`] as const;
      const ref = `support:slack:${channelId}`;
      return { ...of, id: newId(), organizationId: h.organization.id, channelId, subject, ref, messageCount: 1 };
    }),
  );
  for (const table of ["outbox", "conversations", "messages"]) await h.db.execute(sql.raw(`analyze ${table}`));
  const read: number[] = [];
  const services = inTransactions(h.services, async (tx, work) => {
    const rowsRead = await countReads(tx, ["outbox", "conversations"]);
    const done = await work();
    read.push(await rowsRead());
    return done;
  });
  const store = await storing({ services }, "support", "slack");
  const ts = h.slack.sent.at(-1)?.ts;
  await store(incoming({ channelId: `D1:${ts}`, sender: "U1", text: "Yes" }));
  await store(incoming({ channelId: "D1", sender: "U1", text: "Yes" }));
  const told = [[1, "assistant", "Shall I order more?"]];
  expect([await h.said(`support:slack:D1:${ts}`), await h.said("support:slack:D1")]).toEqual([told, told]);
  await echoed(h, services, "U1");
  await echoed(h, services, "U3");
  expect(await h.said("support:slack:D1")).toEqual([...told, [2, "assistant", "And paint it?"]]);
  expect(read.length).toBeGreaterThanOrEqual(4);
  expect(Math.max(...read)).toBeLessThan(100);
});

test.runIf(dialect === "postgres")(
  "what is stored while a person writes for the first time is part of their private chat, too",
  async () => {
    const h = await withRoom();
    await h.turnOn(h.agent.id, "slack");
    const echoing: Promise<void>[] = [];
    const services = inTransactions(h.services, async (_tx, work) => {
      const done = await work();
      let isDone = false;
      const echo = echoed(h, h.services, "U1").then(() => {
        isDone = true;
      });
      echoing.push(echo);
      await eventually(async () => isDone || (await h.services.database.query(waiting, [])).length > 0);
      return done;
    });
    const store = await storing({ services }, "support", "slack");
    await store(incoming({ channelId: "D1", sender: "U1", text: "Hello" }));
    await Promise.all(echoing);
    expect(await h.said("support:slack:D1")).toEqual([[1, "assistant", "And paint it?"]]);
  },
);

test.runIf(dialect === "postgres")(
  "a text for a private chat that is known keeps nobody waiting who holds that chat and takes over what was told before",
  async () => {
    const h = await withRoom();
    await h.turnOn(h.agent.id, "slack");
    const store = await storing(h, "support", "slack");
    await store(incoming({ channelId: "D1:9.9", sender: "U1", text: "Hello" }));
    await echoed(h, h.services, "U1");
    const { id: conversationId = "" } = (await h.conversation("support:slack:D1")) ?? {};
    const echo = await h.services.database.transaction(async (tx) => {
      await tx.execute(sql`select 1 from conversations where id = ${conversationId} for update`);
      const echoing = echoed(h, h.services, "U1");
      await eventually(async () => (await h.services.database.query(waiting, [])).length > 0);
      await tx.execute(sql`set local lock_timeout = '200ms'`);
      await takeOverTold(tx, { agentId: h.agent.id, conversationId, told: "support:slack:U1" });
      return { echoing };
    });
    await echo.echoing;
    expect(await h.said("support:slack:D1")).toHaveLength(2);
  },
);

const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/** Does the job's work for a text that the agent has sent to a chat of Slack. */
async function echoed(h: Awaited<ReturnType<typeof withRoom>>, services: Services, target: string) {
  const [id, turnId] = [newId(), newId()];
  const part = {
    id,
    turnId,
    agentId: h.agent.id,
    channel: "slack",
    target,
    body: "And paint it?",
    status: "sent",
  };
  await h.db.insert(outbox).values(part);
  const job = { id: newId(), payload: { turnId, first: 0, count: 1 }, attempt: 1 };
  await handlerOf(echoJobs(services))(job, new AbortController().signal);
}

/** The services with transactions in which `around` runs the work, and more before the commit. */
function inTransactions(
  services: Services,
  around: <Done>(tx: Db, work: () => Promise<Done>) => Promise<Done>,
): Services {
  const { database } = services;
  const transaction: typeof database.transaction = (work) => database.transaction((tx) => around(tx, () => work(tx)));
  return { ...services, database: { ...database, transaction } };
}
