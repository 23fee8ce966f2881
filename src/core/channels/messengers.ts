import type { LoadScrub } from "../scrub/scrub.ts";

/** The messengers, by the names of their channels. */
export const messengerNames = ["telegram", "slack", "whatsapp"] as const;
export type MessengerName = (typeof messengerNames)[number];

/** The most UTF-16 units of Markdown in one message (decisions §8). */
export const longestParts: Readonly<Record<MessengerName, number>> = {
  telegram: 4_000,
  slack: 3_900,
  whatsapp: 1_600,
};

/** How messages reach this server: by a messenger's webhook calls, or by this server's polls or socket. */
export type Transport = "webhook" | "polling" | "socket";

export interface TelegramConfig {
  botToken: string;
  /** The numeric ids of the only people that the agent answers; empty for everyone. */
  allowedUserIds: readonly string[];
}

export interface SlackConfig {
  botToken: string;
  /** Null when messages come over a socket. */
  signingSecret: string | null;
  /** The app-level token of Socket Mode; null when messages come by webhook. */
  appToken: string | null;
}

export interface WhatsAppConfig {
  accountSid: string;
  /** Auth Token mode signs webhooks; API Key mode has a secret in the webhook's path. */
  credentials: { mode: "auth_token"; authToken: string } | { mode: "api_key"; apiKeySid: string; apiKeySecret: string };
  /** The number in plain E.164. */
  whatsappNumber: string;
}

/**
 * The credential of an account that only one agent may use, since two agents would take each other's messages. Null
 * when each agent has its own address for the account. `fields` are the channel's stored configuration.
 */
export function exclusiveCredential(type: string, fields: Readonly<Record<string, unknown>>): string | null {
  const credential = type === "telegram" ? fields.botToken : type === "slack" ? fields.appToken : null;
  return typeof credential === "string" ? `${type}:${credential}` : null;
}

/** The decrypted settings of an agent's channel. */
export type MessengerConfig =
  | { name: "telegram"; config: TelegramConfig }
  | { name: "slack"; config: SlackConfig }
  | { name: "whatsapp"; config: WhatsAppConfig };

/** The head of a webhook request. */
export interface WebhookHead {
  headers: Headers;
  /** The secret from the channel's registration; null for none. */
  secret: string | null;
  /** The last segment of the path if it is a secret; null otherwise. */
  pathSecret: string | null;
}

/** A webhook request, unchanged. */
export interface WebhookCall extends WebhookHead {
  /** The address that the messenger called and signed. */
  url: string;
  body: Uint8Array<ArrayBuffer>;
}

/** The status for a request that does not prove that the messenger sent it (spec "Authentication" 7, decisions §8). */
export type Unproven = 401 | 403 | 404;

/** The content of a webhook request. */
export type WebhookContent =
  | { kind: "refused"; status: Unproven }
  /** The request can't be read now: the messenger should send it again (503). */
  | { kind: "later" }
  /** There is nothing to store; the messenger expects this text in the response. */
  | { kind: "answer"; text: string }
  /** The arrivals; possibly none. */
  | { kind: "arrivals"; arrivals: Arrival[] };

/** One event that a messenger reports. */
export type Arrival = Incoming | DeletedMessage | MovedChat;

/** A person deleted a message. */
export interface DeletedMessage {
  /** The provider id of the message, which may never have arrived. */
  deletes: string;
  channelId: string;
}

/** The id of a chat changed, for example because a Telegram group became a supergroup. */
export interface MovedChat {
  movedFrom: string;
  movedTo: string;
}

/** A person's message. */
export interface Incoming {
  /** The messenger's own id of the message, repeated in redeliveries; unique for one agent and channel. */
  providerId: string;
  /** The source of the message, and the target of the reply: a chat, a topic or a thread. Each is a conversation. */
  channelId: string;
  /** The messenger's id of the person. */
  sender: string;
  senderName: string | null;
  /** Whether only the person and the agent can read the chat. */
  isPrivate: boolean;
  /** The text without the mention of the agent; empty for a message of files only. */
  text: string;
  files: IncomingFile[];
  /** The provider id of the message that this one corrects, which may never have arrived; null for a new message. */
  edits: string | null;
  /** The messages that this one refers to. */
  quotes: Quote[];
  /** The album that the message is a part of; null for none. */
  album: Album | null;
}

/** An earlier or forwarded text to which a message refers. Its sender does not say it now. */
export interface Quote {
  kind: "reply" | "forward";
  /** The author: the agent, the sender of the message, or somebody else; null when unknown. */
  author: "agent" | "sender" | { id: string | null; name: string | null } | null;
  /** Empty for files only, and when the messenger does not send the text. */
  text: string;
  /** The part that the sender selected; null for the whole text. */
  passage: string | null;
  /** The id of a message of which the messenger sends no text; null otherwise. */
  messageId: string | null;
}

/** A quoted message, as the messenger returns it on request. */
export interface QuotedMessage extends Pick<Quote, "author" | "text"> {
  files: IncomingFile[];
}

/** Pictures and other files that were sent together; the messenger reports each by itself. */
interface Album {
  id: string;
  /** Whether this part addresses the agent. In a group only one part mentions the agent, perhaps the last one. */
  isMeant: boolean;
}

/** The chat of a `channelId`, without its topic or thread. */
export const chatOf = (channelId: string): string => channelId.split(":", 1)[0] ?? "";

/** A `channelId`, with its chat replaced. */
export const inChat = (channelId: string, chat: string): string => chat + channelId.slice(chatOf(channelId).length);

/** Whether a target is a person's id, and the private chat with this person has another id. */
export const namesPerson = (name: MessengerName, target: string): boolean => name === "slack" && /^[UW]/.test(target);

/** A picture, document or voice note that can be downloaded. */
export interface IncomingFile {
  /** The file's id at the messenger, or its address there. */
  ref: string;
  /** The messenger's permanent id of the file, needed when `ref` is different in each report. */
  lastingId?: string | undefined;
  /** Whether the file belongs to a quoted message instead of the message itself. */
  isQuoted?: boolean | undefined;
  name: string;
  mime: string;
  /** The size in bytes, if known. */
  size: number | null;
}

/** A messenger's refusal of a request. Its message contains no credential, and may be shown and stored. */
export class MessengerError extends Error {
  /** Whether the messenger would refuse the request again. */
  readonly isPermanent: boolean;
  /** The wait in milliseconds that the messenger requests; null for none. */
  readonly retryAfterMs: number | null;
  /** Whether the message may have been sent although the response was lost. */
  readonly mayBeDone: boolean;
  /** Whether the messenger refuses the account's credentials, so that every request fails until they change. */
  readonly isOfAccount: boolean;
  /** The new id of the chat to which the request was sent; null if unchanged. */
  readonly movedTo: string | null;

  constructor(
    message: string,
    {
      isPermanent = false,
      retryAfterMs = null,
      mayBeDone = false,
      isOfAccount = false,
      movedTo = null,
    }: Partial<Omit<MessengerError, keyof Error>> = {},
  ) {
    super(message);
    this.name = "MessengerError";
    this.isPermanent = isPermanent;
    this.retryAfterMs = retryAfterMs;
    this.mayBeDone = mayBeDone;
    this.isOfAccount = isOfAccount;
    this.movedTo = movedTo;
  }
}

/** The refusal of a file that is larger than `maxBytes`. */
export class FileTooLarge extends MessengerError {
  constructor(maxBytes: number) {
    super(`The file has more than ${maxBytes} bytes`, { isPermanent: true });
  }
}

/** One check in a channel's test (decisions §8). */
export interface ChannelCheck {
  name: "credentials" | "webhook" | "reachable";
  ok: boolean;
  message: string;
}

/** The webhook that a channel needs. */
export interface WantedWebhook {
  url: string;
  secret: string | null;
}

/** Stores arrivals; resolves once they are stored. */
export type Take = (arrivals: Arrival[]) => Promise<void>;

/**
 * An agent's bot at a messenger. All requests reject with a `MessengerError`, or with the signal's reason after an
 * abort.
 */
export interface MessengerAccount {
  /** How long a typing notice is shown, in milliseconds; null when there is none. */
  readonly typingMs: number | null;
  /** Whether the operator allows the agent to answer the people at a `channelId`. */
  answers(channelId: string): boolean;
  /** Refuses a webhook request by its head alone; null when the body decides. */
  refuses(head: WebhookHead, now: number): Unproven | null;
  /** Verifies and reads a webhook request. Never rejects; ignores all that are no messages. */
  receive(call: WebhookCall, now: number): Promise<WebhookContent>;
  /** Sends Markdown to a `channelId`, as plain text when the messenger refuses the markup. Returns the message id. */
  send(channelId: string, markdown: string, signal: AbortSignal): Promise<string>;
  /** Shows that the agent is typing. */
  typing(channelId: string, signal: AbortSignal): Promise<void>;
  /** Downloads a file. Rejects with `FileTooLarge` if it has more than `maxBytes`. */
  download(file: IncomingFile, maxBytes: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Fetches the message `messageId`, which `message` quotes; null when it was deleted. Absent where messages already
   * contain what they quote.
   */
  quoted?(
    message: Pick<Incoming, "channelId" | "sender">,
    messageId: string,
    signal: AbortSignal,
  ): Promise<QuotedMessage | null>;
  /** Registers the webhook `wanted`; null removes it. Does nothing at messengers where people do this by hand. */
  register(wanted: WantedWebhook | null, signal: AbortSignal): Promise<void>;
  /** Checks the credentials at the messenger. Returns the messenger's description of the account. */
  prove(signal: AbortSignal): Promise<ChannelCheck>;
  /** Checks whether the messenger accepts the credentials, has `wanted` registered, and reaches it. */
  check(wanted: WantedWebhook | null, signal: AbortSignal): Promise<ChannelCheck[]>;
  /**
   * Receives arrivals until the signal aborts, and passes each group to `take`; requests a group again if its `take`
   * rejects. Calls `onConnected` after each successful connection. Rejects when the messenger refuses or can't be
   * reached. Absent when messages come only by webhook.
   */
  follow?(take: Take, signal: AbortSignal, onConnected?: () => void): Promise<void>;
}

/** The messengers of this build. */
export interface Messengers {
  /** `loadScrub` loads the scrubber of the account's agent; it is called when a text of the messenger is shown. */
  account(of: MessengerConfig, loadScrub: LoadScrub): MessengerAccount;
}
