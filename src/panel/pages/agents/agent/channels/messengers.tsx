import type { ComponentChildren } from "preact";
import { type Choices, choicesOf } from "../../../../ui/form/choices.ts";
import type { FieldOf } from "../../../../ui/form/form.tsx";
import { Code } from "../../../../ui/text/code.tsx";

export type MessengerType = "telegram" | "slack" | "whatsapp";

/** The stored or typed settings of a channel. */
export type Values = Readonly<Record<string, string>>;

/** The data that a step may mention. */
interface StepContext {
  /** The agent's name. */
  name: string;
  /** The address that the messenger calls; null for none, and before the first save. */
  webhookUrl: string | null;
  values: Values;
}

export interface Messenger {
  type: MessengerType;
  title: string;
  /** The requirements, in a sentence. */
  needs: string;
  transports: Choices;
  /** The settings of a channel; some depend on others. */
  fields: (values: Values) => readonly FieldOf<Values>[];
  /** The steps at the messenger, before and after the fields are filled in. */
  steps: (place: StepContext) => readonly ComponentChildren[];
}

const Link = ({ href, children }: { href: string; children: ComponentChildren }) => (
  <a href={href} target="_blank" rel="noreferrer">
    {children}
  </a>
);

const Address = ({ url }: { url: string | null }) =>
  url === null ? <p>The address stands here once the channel is saved.</p> : <Code label="Address" text={url} />;

const telegram: Messenger = {
  type: "telegram",
  title: "Telegram",
  needs: "A bot, free, in two minutes. It works without a public address.",
  transports: [
    { value: "", label: "As fits the public address" },
    { value: "webhook", label: "Telegram calls this server (webhook)" },
    { value: "polling", label: "This server asks Telegram (polling)" },
  ],
  fields: () => [
    { name: "botToken", label: "Token of the bot", kind: "secret", placeholder: "123456789:AAE…" },
    {
      name: "allowedUserIds",
      label: "People who are answered",
      optional: true,
      spellcheck: false,
      hint: "Their numeric ids with commas between them; @userinfobot tells yours. Empty: everybody.",
    },
  ],
  steps: () => [
    <>
      In Telegram, open a chat with <Link href="https://t.me/BotFather">@BotFather</Link> and send <code>/newbot</code>.
    </>,
    <>
      Send a name that people will see, then a username that ends in <code>bot</code>.
    </>,
    "Copy the token that BotFather answers into the field below, and save.",
    "Write to the bot.",
  ],
};

const slack: Messenger = {
  type: "slack",
  title: "Slack",
  needs: "The right to install an app in your workspace. With Socket Mode it works without a public address.",
  transports: [
    { value: "", label: "As fits the public address" },
    { value: "webhook", label: "Slack calls this server (webhook)" },
    { value: "socket", label: "This server connects to Slack (Socket Mode)" },
  ],
  fields: ({ transport }) => [
    { name: "botToken", label: "Bot User OAuth Token", kind: "secret", placeholder: "xoxb-…" },
    {
      name: "signingSecret",
      label: "Signing secret",
      kind: "secret",
      hint: "Basic Information → App Credentials.",
      shown: transport !== "socket",
    },
    {
      name: "appToken",
      label: "App-level token",
      kind: "secret",
      placeholder: "xapp-…",
      hint: "Basic Information → App-Level Tokens, with the scope connections:write.",
      shown: transport !== "webhook",
    },
  ],
  steps: ({ name, webhookUrl, values: { transport } }) => [
    <>
      Open <Link href="https://api.slack.com/apps">api.slack.com/apps</Link>, press <b>Create New App</b>, choose{" "}
      <b>From a manifest</b> and your workspace, and put this in place of what is there:
      <Code label="Manifest" text={slackManifest(name, transport === "webhook" ? webhookUrl : null)} />
    </>,
    <>
      <b>Install App → Install to Workspace → Allow</b>. Copy the <b>Bot User OAuth Token</b> into the field below.
    </>,
    transport === "webhook" ? (
      <>
        Copy the <b>Signing Secret</b> from <b>Basic Information</b>, and save. Then open <b>Event Subscriptions</b> and
        press <b>Retry</b> at this address until it says <b>Verified</b>:
        <Address url={webhookUrl} />
      </>
    ) : (
      <>
        Under <b>Basic Information → App-Level Tokens</b> generate a token with the scope <code>connections:write</code>
        , copy it into the field below, and save.
      </>
    ),
    "Mention the app in a channel, or write to it directly.",
  ],
};

const whatsapp: Messenger = {
  type: "whatsapp",
  title: "WhatsApp",
  needs: "An account at Twilio, and a public address with https. Twilio's sandbox will do for a try.",
  transports: [],
  fields: ({ mode }) => [
    {
      name: "mode",
      label: "Credentials",
      kind: "choice",
      choices: choicesOf({ auth_token: "Auth token of the account", api_key: "API key" }),
    },
    { name: "accountSid", label: "Account SID", kind: "secret", placeholder: "AC…" },
    { name: "authToken", label: "Auth token", kind: "secret", shown: mode !== "api_key" },
    { name: "apiKeySid", label: "SID of the API key", kind: "secret", placeholder: "SK…", shown: mode === "api_key" },
    { name: "apiKeySecret", label: "Secret of the API key", kind: "secret", shown: mode === "api_key" },
    {
      name: "whatsappNumber",
      label: "Number of the sender",
      spellcheck: false,
      placeholder: "+14155238886",
      hint: "Plus and digits. The sandbox has +14155238886.",
    },
  ],
  steps: ({ webhookUrl }) => [
    <>
      In <Link href="https://console.twilio.com">Twilio's console</Link> open{" "}
      <b>Messaging → Try it out → Send a WhatsApp message</b> and join the sandbox from your phone, or take a sender of
      your own.
    </>,
    <>
      Copy the credentials from <b>Account → API keys & tokens</b> into the fields below, and save.
    </>,
    <>
      Put this address into <b>When a message comes in</b>, with <b>POST</b>:
      <Address url={webhookUrl} />
    </>,
    "Write to the number by WhatsApp.",
  ],
};

/** The messengers; the one that is quickest to set up comes first. */
export const messengers: readonly Messenger[] = [telegram, slack, whatsapp];

/** The manifest of a Slack app for an agent, as YAML; for Socket Mode without an address (docs/channels/slack.md). */
function slackManifest(name: string, requestUrl: string | null): string {
  // A JSON string is valid YAML. Slack accepts at most 35 characters.
  const shown = JSON.stringify(name.slice(0, 35));
  return `display_information:
  name: ${shown}
features:
  app_home:
    home_tab_enabled: false
    messages_tab_enabled: true
    messages_tab_read_only_enabled: false
  bot_user:
    display_name: ${shown}
    always_online: true
oauth_config:
  scopes:
    bot:
      - app_mentions:read
      - channels:history
      - chat:write
      - files:read
      - groups:history
      - im:history
settings:
  event_subscriptions:${requestUrl === null ? "" : `\n    request_url: ${JSON.stringify(requestUrl)}`}
    bot_events:
      - app_mention
      - message.im
  org_deploy_enabled: false
  socket_mode_enabled: ${requestUrl === null}
  token_rotation_enabled: false
`;
}
