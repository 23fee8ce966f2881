import { expect, test } from "vitest";
import { conversations, movedChats } from "../../../src/db/schema.ts";
import { sendTo } from "../../../src/features/inbox/index.ts";
import { isAtPlace } from "../../../src/features/room/scheduler/replies.ts";
import { incoming, storing } from "./messengers.ts";
import { withRoom } from "./told.ts";

const [was, is] = ["-500", "-1000500"];
const migrated = {
  status: 400,
  json: {
    ok: false,
    error_code: 400,
    description: "Bad Request: group chat was upgraded to a supergroup chat",
    parameters: { migrate_to_chat_id: Number(is) },
  },
};
const inGroup = (channelId: string, text: string) =>
  incoming({ channelId, providerId: `${channelId}:${text}`, isPrivate: false, sender: "21", senderName: "Ann", text });

/** An agent in a group, whose model answers with its input. */
async function inAGroup() {
  const h = await withRoom();
  const store = await storing(h, "support");
  const refs = async () => (await h.db.select({ ref: conversations.ref }).from(conversations)).map(({ ref }) => ref);
  const answered = async (count: number) => {
    await h.clock.advance(2_000);
    return h.settled((all) => all.length === count && all.every(({ status }) => status === "sent"));
  };
  return { ...h, store, refs, answered };
}

test("a group that becomes a supergroup keeps its conversation, and is answered where it is now", async () => {
  const h = await inAGroup();
  await h.store(inGroup(was, "Hello"));
  await h.answered(1);
  await h.store({ movedFrom: was, movedTo: is }, inGroup(is, "Still there?"));
  await h.answered(2);
  expect(h.telegram.sent.map(({ chatId }) => chatId)).toEqual([Number(was), Number(is)]);
  expect(await h.refs()).toEqual([`support:telegram:${was}`]);
  expect(h.prompt().filter(([role]) => role === "user")).toEqual([
    ["user", "Ann (21): Hello"],
    ["user", "Ann (21): Still there?"],
  ]);
});

test("a refusal may reveal the move first: waiting messages continue, and so does the conversation", async () => {
  const h = await inAGroup();
  const turnId = await h.work("The shelf is empty");
  h.telegram.fail("sendMessage", migrated);
  await h.say("Shall I order more?", { turnId, target: was });
  await h.allSent();
  await h.isEchoed();
  expect(h.telegram.sent).toMatchObject([{ chatId: Number(is), text: "Shall I order more?" }]);
  expect(await h.db.select().from(movedChats)).toMatchObject([{ chatId: was, movedTo: is, channel: "telegram" }]);
  await h.store(inGroup(is, "Yes, do it"));
  await h.answered(2);
  expect(h.prompt().slice(-2)).toEqual([
    ["assistant", "Shall I order more?"],
    ["user", "Ann (21): Yes, do it"],
  ]);
  // The Room looks for answers in the chat in which it asked.
  const { channel, channelId, subject } = conversations;
  const at = await h.db
    .select({ ref: conversations.ref })
    .from(conversations)
    .where(isAtPlace({ channel, channelId, subject }, { channel: "telegram", target: was }));
  expect(at).toEqual([{ ref: `support:telegram:${was}` }]);
});

test("messages sent to the new id belong to the same conversation", async () => {
  const h = await inAGroup();
  await h.store({ movedFrom: was, movedTo: is }, inGroup(is, "Hello"));
  await h.answered(1);
  const turnId = await h.work("The shelf is empty");
  await h.say("Shall I order more?", { turnId, target: is });
  await h.allSent();
  await h.isEchoed();
  expect(await h.said(`support:telegram:${was}`)).toHaveLength(3);
  expect(h.telegram.sent.every(({ chatId }) => chatId === Number(is))).toBe(true);
});

test("topics go with their group, and a refusal that leads nowhere else is one", async () => {
  const h = await inAGroup();
  await h.store({ movedFrom: was, movedTo: is }, inGroup(`${is}:77`, "In here"));
  await h.answered(1);
  expect(h.telegram.sent).toMatchObject([{ chatId: Number(is), topicId: 77 }]);
  expect(await h.refs()).toEqual([`support:telegram:${was}:77`]);
  h.telegram.fail("sendMessage", migrated);
  await h.services.database.transaction((tx) =>
    sendTo(tx, { ...h.place, organizationId: h.organization.id, turnId: null, text: "x", target: is }),
  );
  await h.settled((all) => all.some(({ status }) => status === "failed"));
  expect(h.telegram.sent).toHaveLength(1);
});

test("a group that was written in under its new id before the move was known keeps that conversation", async () => {
  const h = await inAGroup();
  await h.store(inGroup(was, "Hello"));
  await h.store(inGroup(is, "Hello again"));
  await h.store({ movedFrom: was, movedTo: is }, inGroup(is, "And again"));
  expect((await h.refs()).toSorted()).toEqual([`support:telegram:${is}`, `support:telegram:${was}`].toSorted());
});
