// `npm run demo:channels`: a person writes to an agent on Telegram, Slack and WhatsApp. The program is the real one;
// the messengers are stand-ins on this machine, and the model is the built-in one that repeats its input.
import { createAgentEngine } from "../../src/client/index.ts";
import { slackBotId, slackServer, slackTokens } from "../messengers/slack-server.ts";
import { telegramServer, telegramToken } from "../messengers/telegram-server.ts";
import { twilioAccount, twilioServer } from "../messengers/twilio-server.ts";
import { Chat } from "./chat.ts";
import { startServer } from "./server.ts";

const chat = new Chat(process.stdout);
const slug = "assistant";

/** A picture of one pixel. */
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const [telegram, slack, twilio] = await Promise.all([telegramServer(), slackServer(), twilioServer()]);
const server = await startServer({
  TELEGRAM_API_BASE_URL: telegram.base,
  SLACK_API_BASE_URL: slack.base,
  TWILIO_API_BASE_URL: twilio.base,
});
try {
  await setUp();
  await onTelegram();
  await onSlack();
  await onWhatsApp();
  chat.title("That was all of it: docs/channels/README.md says how to set up your own.");
} finally {
  await server.stop();
  await Promise.all([telegram, slack, twilio].map((one) => one.close()));
}

/** An agent with its channels on, as an operator makes it. */
async function setUp(): Promise<void> {
  const { token } = await createAgentEngine({ baseUrl: server.url }).signIn({ body: server.owner });
  const engine = createAgentEngine({ baseUrl: server.url, token });
  await engine.createAgent({
    body: {
      slug,
      name: "Assistant",
      provider: "demo",
      model: "demo",
      attachmentsEnabled: true,
      debounceMs: 500,
      optoutEnabled: true,
      optoutClosingMessage: "I will not write any more. Say START to go on.",
      optoutResumeMessage: "Welcome back.",
    },
  });
  const { accountSid, authToken, whatsappNumber } = twilioAccount;
  const configs = {
    telegram: { botToken: telegramToken },
    slack: { botToken: slackTokens.botToken, appToken: slackTokens.appToken },
    whatsapp: { accountSid, authToken, whatsappNumber },
  };
  for (const [type, config] of Object.entries(configs)) {
    await engine.putAgentChannel({ slug, type, body: { enabled: true, config } });
  }
  for (const left = new Set(Object.keys(configs)); left.size > 0; ) {
    const { channels } = await engine.listAgentChannels({ slug });
    for (const { channelType, ...channel } of channels) {
      if ("status" in channel && channel.status === "running") left.delete(channelType);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  twilio.state.webhookUrl = `${server.url}/webhooks/twilio/${slug}/whatsapp`;
}

async function onTelegram(): Promise<void> {
  chat.title("Telegram, by polling: no public address is needed");
  const says = async (text: string, more: Record<string, unknown> = {}) => {
    chat.line("Ada", text);
    await telegram.say(text, more);
  };
  const replies = () => chat.reply(telegram.sent, (index) => plain(telegram.sent[index]?.text ?? ""));
  await says("Hello!");
  await says("Are you there?");
  await replies();
  const photo = { file_id: "photo-1", file_unique_id: "1", file_size: picture.length, width: 1, height: 1 };
  telegram.files.set(photo.file_id, { path: "photos/1.png", bytes: picture });
  await says("[a photo] What is this?", { text: undefined, caption: "What is this?", photo: [photo] });
  await replies();
}

async function onSlack(): Promise<void> {
  chat.title("Slack, by Socket Mode: no public address either");
  chat.line("Ada", "Hello!");
  await slack.say("Hello!");
  await chat.reply(slack.sent, (index) => slack.sent[index]?.text ?? "");
  chat.line("Ada", "in #general: @Helper What is new?");
  const text = `<@${slackBotId}> What is new?`;
  await slack.say(text, { type: "app_mention", channel: "C061EG9T2", channel_type: "channel" });
  await chat.reply(slack.sent, (index) => `in a thread: ${slack.sent[index]?.text ?? ""}`);
}

async function onWhatsApp(): Promise<void> {
  chat.title("WhatsApp, by Twilio's webhook");
  const says = async (text: string) => {
    chat.line("Ada", text);
    const { status } = await twilio.say(text);
    if (status !== 200) throw new Error(`The webhook answered ${status}`);
  };
  const replies = () => chat.reply(twilio.sent, (index) => twilio.sent[index]?.body ?? "");
  await says("Hello!");
  await replies();
  await says("STOP");
  await replies();
  await says("Is anybody there?");
  await says("START");
  await replies();
  await says("Good to be back.");
  await replies();
}

/** Telegram's display of its HTML. */
function plain(html: string): string {
  const signs: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };
  return html.replaceAll(/<[^>]*>/g, "").replaceAll(/&(lt|gt|quot|amp);/g, (sign) => signs[sign] ?? sign);
}
