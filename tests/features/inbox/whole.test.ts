import { expect, test } from "vitest";
import { createMessengers } from "../../../src/adapters/messengers/index.ts";
import { systemClock } from "../../../src/adapters/node/clock.ts";
import { files, messages } from "../../../src/db/schema.ts";
import { forTest } from "../../adapters/messengers/accounts.ts";
import { harness } from "../../harness.ts";
import { slackServer, slackTokens } from "../../messengers/slack-server.ts";
import { telegramServer, telegramToken } from "../../messengers/telegram-server.ts";
import { twilioAccount, twilioServer } from "../../messengers/twilio-server.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { png } from "../files/attachments.ts";

/** A served agent on the stand-ins of all three messengers, without a public address. */
async function onMessengers(fields: Record<string, unknown> = { attachmentsEnabled: true }) {
  const [telegram, slack, twilio] = await Promise.all([
    forTest(telegramServer()),
    forTest(slackServer()),
    forTest(twilioServer()),
  ]);
  const bases = { telegram: telegram.base, slack: slack.base, whatsapp: twilio.base };
  const model = scriptedModel(() => reply("I see."));
  const h = await harness({ model, messengers: createMessengers({ clock: systemClock, bases }) });
  const agent = await h.agent(fields);
  await h.engine.renewLeases();
  const url = await h.listen();
  const { apiKeySid: _, apiKeySecret: __, ...whatsapp } = twilioAccount;
  const configs = {
    telegram: { botToken: telegramToken },
    slack: { botToken: slackTokens.botToken, appToken: slackTokens.appToken },
    whatsapp,
  };
  for (const [name, config] of Object.entries(configs)) {
    const path = `/api/instances/${agent.slug}/channels/${name}`;
    const answer = await h.request(path, { method: "PUT", headers: agent.headers, json: { enabled: true, config } });
    expect(answer.status).toBe(200);
  }
  twilio.state.webhookUrl = `${url}/webhooks/twilio/${agent.slug}/whatsapp`;
  await expect.poll(() => slack.peers.length).toBe(1);
  await expect.poll(() => telegram.requests.some(({ path }) => path.endsWith("/getUpdates"))).toBe(true);
  const { db } = h.services.database;
  return {
    ...h,
    telegram,
    slack,
    twilio,
    model,
    /** The user's messages of the last prompt. */
    asked: () => model.calls.at(-1)?.prompt.flatMap(({ role, content }) => (role === "user" ? content : [])),
    /** Waits until people were sent messages. */
    async answered(sent: readonly unknown[]) {
      const before = sent.length;
      for (let step = 0; sent.length === before && step < 400; step += 1) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        await h.clock.advance(100);
      }
      expect(sent.length).toBe(before + 1);
    },
    files: () => db.select().from(files),
    said: async () =>
      (await db.select().from(messages).orderBy(messages.createdAt, messages.seq)).map(({ content }) => content),
  };
}

const picture = (data: Uint8Array) => ({
  type: "file",
  filename: "photo.jpg",
  mediaType: "image/png",
  data: { type: "data", data },
});

test("a photo, a document and a voice note reach the model by Telegram, and the reply the person", async () => {
  const t = await onMessengers();
  const [photo, note, voice] = [png, new TextEncoder().encode("milk"), new TextEncoder().encode("OggS")];
  t.telegram.files.set("p1", { path: "photos/1.jpg", bytes: photo });
  t.telegram.files.set("n1", { path: "documents/1.txt", bytes: note });
  t.telegram.files.set("v1", { path: "voice/1.oga", bytes: voice });
  const sizes = { file_unique_id: "u", file_size: 20 };
  await t.telegram.say("", {
    text: undefined,
    caption: "What is this?",
    photo: [{ file_id: "p1", ...sizes, width: 10, height: 10 }],
  });
  await t.telegram.say("", {
    text: undefined,
    document: { file_id: "n1", ...sizes, file_name: "list.txt", mime_type: "text/plain" },
  });
  await t.telegram.say("", {
    text: undefined,
    voice: { file_id: "v1", ...sizes, duration: 2, mime_type: "audio/ogg" },
  });
  await t.answered(t.telegram.sent);
  expect(t.asked()).toEqual([
    { type: "text", text: "What is this?\n\n[A picture came: photo.jpg.]" },
    { type: "text", text: "[The document list.txt says:]\nmilk\n[The end of list.txt.]" },
    { type: "text", text: "[A recording came: voice.ogg. You can't hear it.]" },
    picture(photo),
  ]);
  expect(t.telegram.sent).toMatchObject([{ chatId: 4711, text: "I see." }]);
  expect((await t.files()).map(({ status, messageId }) => [status, messageId !== null])).toEqual(
    Array.from({ length: 3 }, () => ["stored", true]),
  );
  expect((await t.said()).at(-1)).toBe("I see.");
});

test("a file alone makes a turn by Slack's socket, and by WhatsApp's webhook", async () => {
  const t = await onMessengers();
  t.slack.files.set("/files-pri/F1", { bytes: png, mime: "image/jpeg" });
  await t.slack.say("", {
    subtype: "file_share",
    files: [
      { id: "F1", name: "photo.jpg", mimetype: "image/jpeg", size: 33, url_private: `${t.slack.url}/files-pri/F1` },
    ],
  });
  await t.answered(t.slack.sent);
  expect(t.asked()).toEqual([{ type: "text", text: "[A picture came: photo.jpg.]" }, picture(png)]);
  t.twilio.media.set("ME1", { bytes: png, mime: "image/jpeg" });
  const media = { NumMedia: "1", MediaUrl0: t.twilio.mediaUrl("ME1"), MediaContentType0: "image/jpeg" };
  expect((await t.twilio.say("", media)).status).toBe(200);
  await t.answered(t.twilio.sent);
  expect(t.asked()).toEqual([
    { type: "text", text: "[A picture came: image.jpg.]" },
    { ...picture(png), filename: "image.jpg" },
  ]);
  expect(t.twilio.sent).toMatchObject([{ to: "whatsapp:+393331234567", body: "I see." }]);
});

test("an agent without attachments answers, knowing that something came", async () => {
  const t = await onMessengers({ attachmentsEnabled: false });
  await t.telegram.say("", { text: undefined, voice: { file_id: "v1", file_unique_id: "u", duration: 2 } });
  await t.answered(t.telegram.sent);
  expect(t.asked()).toEqual([{ type: "text", text: "[A recording came, but this agent takes no files.]" }]);
  expect(await t.files()).toEqual([]);
});
