import { expect, test } from "vitest";
import { messengerHarness, privateUpdate, saveChannel, telegramFields } from "./messengers.ts";

test("a message is stored before it is acknowledged, and its answer is arranged", async () => {
  const h = await messengerHarness();
  const response = await h.say("Hello", 7);
  expect(response.status).toBe(200);
  const { inbox, conversations, jobs } = await h.rows();
  expect(conversations).toMatchObject([
    {
      ref: `${h.agent.slug}:telegram:42`,
      channel: "telegram",
      channelId: "42",
      subject: "telegram:42",
      lastInboxSeq: 1,
    },
  ]);
  expect(inbox).toMatchObject([
    { providerId: "1000:42:7", seq: 1, sender: "42", status: "pending", payload: { text: "Hello", senderName: "Ada" } },
  ]);
  const runAt = new Date(h.clock.now() + 2_000);
  expect(jobs).toMatchObject([{ kind: "inbox.answer", key: conversations[0]?.id, runAt }]);
});

test("a redelivery is acknowledged and changes nothing", async () => {
  const h = await messengerHarness();
  await h.say("Hello", 7);
  const before = await h.rows();
  await h.clock.advance(1_000);
  expect((await h.telegram(privateUpdate("Hello", 7))).status).toBe(200);
  expect(await h.rows()).toEqual(before);
});

test("a message of another bot is none of the former one's, whose messages Telegram counted from 1 too", async () => {
  const h = await messengerHarness();
  await h.say("Hello", 7);
  await saveChannel(h, h.agent.slug, "telegram", { fields: { ...telegramFields, botToken: `2000:${"t".repeat(35)}` } });
  await h.say("Is this the new bot?", 7);
  expect((await h.rows()).inbox.map(({ payload }) => payload)).toMatchObject([
    { text: "Hello" },
    { text: "Is this the new bot?" },
  ]);
});
