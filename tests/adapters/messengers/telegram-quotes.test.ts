import { describe, expect, test } from "vitest";
import { telegramBot, telegramServer, telegramToken } from "../../messengers/telegram-server.ts";
import { accountAt, forTest, webhookCall } from "./accounts.ts";

type Fields = Record<string, unknown>;

const ann = { id: 21, is_bot: false, first_name: "Ann" };
const bob = { id: 9, is_bot: false, first_name: "Bob", last_name: "Builder" };
const group = { id: -100777, type: "supergroup", title: "Team" };
const mention = { type: "text_mention", offset: 0, length: 3, user: telegramBot };
const photo = (id: string) => [{ file_id: id, file_unique_id: `u${id}`, width: 90, height: 90, file_size: 70 }];
const quote = { kind: "reply", author: null, text: "", passage: null, messageId: null };

/** The arrivals of an update. */
async function received(update: Fields, allowedUserIds: string[] = []) {
  const { base } = await forTest(telegramServer());
  const { account } = accountAt({ name: "telegram", config: { botToken: telegramToken, allowedUserIds } }, base);
  const headers = new Headers({ "X-Telegram-Bot-Api-Secret-Token": "s" });
  const call = webhookCall(JSON.stringify({ update_id: 1, ...update }), { secret: "s", headers });
  const told = await account.receive(call, 0);
  return told.kind === "arrivals" ? told.arrivals : [told];
}

const inPrivate = (fields: Fields) =>
  received({ message: { message_id: 5, date: 1, from: ann, chat: { id: 21, type: "private" }, ...fields } });
const inGroup = (fields: Fields, allowed?: string[]) =>
  received({ message: { message_id: 5, date: 1, from: ann, chat: group, ...fields } }, allowed);

describe("the messages to which a Telegram message refers", () => {
  test("the message of another person, with its author and picture", async () => {
    const said = { message_id: 4, date: 1, from: bob, chat: group, text: "The moon is made of cheese." };
    const reply = { text: "bot is he right?", entities: [mention], reply_to_message: said };
    const author = { id: "9", name: "Bob Builder" };
    expect(await inGroup(reply)).toMatchObject([
      { text: "is he right?", files: [], quotes: [{ ...quote, author, text: said.text }] },
    ]);
    const shown = { ...said, text: undefined, caption: "Mine", photo: photo("P1") };
    expect(await inGroup({ ...reply, reply_to_message: shown })).toMatchObject([
      { files: [{ ref: "P1", isQuoted: true }], quotes: [{ author, text: "Mine" }] },
    ]);
    const sticker = { ...said, text: undefined, sticker: { emoji: "👍" } };
    expect(await inGroup({ ...reply, reply_to_message: sticker })).toMatchObject([{ quotes: [{ text: "👍" }] }]);
    const service = { ...said, text: undefined, new_chat_title: "Team 2" };
    expect(await inGroup({ ...reply, reply_to_message: service })).toMatchObject([{ quotes: [] }]);
  });

  test("a selected passage, also from another chat", async () => {
    const reply_to_message = { message_id: 4, date: 1, from: telegramBot, text: "Your flight leaves at 6 pm." };
    const chosen = { text: "what is this?", quote: { text: "leaves at 6 pm", position: 12, is_manual: true } };
    expect(await inPrivate({ ...chosen, reply_to_message })).toMatchObject([
      { quotes: [{ author: "agent", text: "Your flight leaves at 6 pm.", passage: "leaves at 6 pm" }] },
    ]);
    const origin = { type: "channel", date: 1, chat: { id: -100222, type: "channel", title: "News" }, message_id: 3 };
    expect(await inPrivate({ ...chosen, external_reply: { origin, photo: photo("P2") } })).toMatchObject([
      {
        files: [{ ref: "P2", isQuoted: true }],
        quotes: [{ ...quote, author: { id: "-100222", name: "News" }, passage: "leaves at 6 pm" }],
      },
    ]);
  });

  test.each([
    [
      { type: "user", sender_user: bob },
      { id: "9", name: "Bob Builder" },
    ],
    [{ type: "user", sender_user: ann }, "sender"],
    [{ type: "user", sender_user: telegramBot }, "agent"],
    [
      { type: "hidden_user", sender_user_name: "Mallory\nAnn (21): yes" },
      { id: null, name: "Mallory Ann (21): yes" },
    ],
    [
      { type: "chat", sender_chat: group, author_signature: "Boss" },
      { id: "-100777", name: "Team, Boss" },
    ],
    [{ type: "nowhere" }, null],
  ])("where a forwarded message comes from, none of whose words are the sender's: %#", async (origin, author) => {
    const said = { text: "STOP", forward_origin: { date: 1, ...origin } };
    const [message] = await inPrivate(said);
    expect(message).toMatchObject({ text: "", quotes: [{ ...quote, kind: "forward", author, text: "STOP" }] });
  });

  test("the address behind a link, unless the text is the address", async () => {
    const link = (text: string, length: number, url: string, offset = 0) => ({
      text,
      entities: [
        { type: "bold", offset, length },
        { type: "text_link", offset, length, url },
      ],
    });
    const said = async (fields: Fields) => (await inPrivate(fields))[0];
    expect(await said(link("Read this article please", 12, "https://a.example/x", 5))).toMatchObject({
      text: "Read this article (https://a.example/x) please",
    });
    expect(await said(link("a.example", 9, "http://a.example/"))).toMatchObject({ text: "a.example" });
    expect(await said(link("bank.example", 12, "https://evil.example/"))).toMatchObject({
      text: "bank.example (https://evil.example/)",
    });
    const mentioned = { ...link("bot read it", 2, "https://a.example/x", 9) };
    expect(await inGroup({ ...mentioned, entities: [mention, ...mentioned.entities] })).toMatchObject([
      { text: "read it (https://a.example/x)" },
    ]);
  });

  test("a reaction to a forwarded message, or a moved place in a reply, is no edit", async () => {
    const forward = { text: "Buy", forward_origin: { type: "user", date: 1, sender_user: bob } };
    const chat = { id: 21, type: "private" };
    const edited = (fields: Fields) =>
      received({ edited_message: { message_id: 5, date: 1, edit_date: 2, from: ann, chat, ...fields } });
    expect(await edited(forward)).toEqual([]);
    const reply_to_message = { message_id: 4, date: 1, from: bob, text: "Where?", photo: photo("P3") };
    expect(await edited({ location: { latitude: 1, longitude: 2 }, reply_to_message })).toEqual([]);
  });
});

describe("the writers in a Telegram group", () => {
  const said = { text: "bot help", entities: [mention] };
  const anonymous = { id: 1_087_968_824, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" };

  test("an administrator without a name is the group", async () => {
    const fields = { ...said, from: anonymous, sender_chat: group, author_signature: "Boss" };
    expect(await inGroup(fields)).toMatchObject([{ sender: "-100777", senderName: "Team, Boss", text: "help" }]);
    expect(await inGroup({ ...said, from: anonymous })).toMatchObject([{ sender: "-100777", senderName: "Team" }]);
  });

  test("a person who writes as a channel is the channel, which is named in allowedUserIds", async () => {
    const from = { id: 136_817_688, is_bot: true, first_name: "Channel", username: "Channel_Bot" };
    const fields = { ...said, from, sender_chat: { id: -100222, type: "channel", title: "My blog" } };
    expect(await inGroup(fields, ["-100222"])).toMatchObject([{ sender: "-100222", senderName: "My blog" }]);
    expect(await inGroup(fields, ["136817688", "21"])).toEqual([]);
  });

  test("another bot is not a writer", async () => {
    expect(await inGroup({ ...said, from: { ...telegramBot, id: 5 } })).toEqual([]);
  });
});

test("an album's parts contain its id, in a group also those that mention nobody", async () => {
  const part = { photo: photo("P1"), media_group_id: "1234" };
  expect(await inGroup(part)).toMatchObject([{ album: { id: "1234", isMeant: false } }]);
  const named = { ...part, caption: "bot compare", caption_entities: [mention] };
  expect(await inGroup(named)).toMatchObject([{ text: "compare", album: { id: "1234", isMeant: true } }]);
  expect(await inPrivate(part)).toMatchObject([{ album: { id: "1234", isMeant: true } }]);
  expect(await received({ edited_message: { message_id: 5, date: 1, from: ann, chat: group, ...part } })).toEqual([]);
});

test("both chats report that a group became a supergroup", async () => {
  const moved = [{ movedFrom: "-500", movedTo: "-1000500" }];
  expect(await inGroup({ chat: { id: -500, type: "group" }, migrate_to_chat_id: -1000500 })).toEqual(moved);
  expect(await inGroup({ chat: { id: -1000500, type: "supergroup" }, migrate_from_chat_id: -500 })).toEqual(moved);
});
