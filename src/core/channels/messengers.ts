import type { LoadScrub } from "../scrub/scrub.ts";

/** The messengers, by the names of their channels. */
export const messengerNames = ["telegram", "slack", "whatsapp"] as const;
export type MessengerName = (typeof messengerNames)[number];

/** The most UTF-16 units of Markdown that one message takes (decisions §8). */
export const longestParts: Readonly<Record<MessengerName, number>> = {
  telegram: 4_000,
  slack: 3_900,
  whatsapp: 1_600,
};

/** How messages of a messenger reach this server: by its webhook calls, or by polls or a socket of this server. */
export type Transport = "webhook" | "polling" | "socket";

export interface TelegramConfig {
  botToken: string;
  /** The numeric ids of the only people whom the agent answers; empty for everyone. */
  allowedUserIds: readonly string[];
}

export interface SlackConfig {
  botToken: string;
  /** Null where messages come over a socket. */
  signingSecret: string | null;
  /** The app-level token of Socket Mode; null where messages come by webhook. */
  appToken: string | null;
}

export interface WhatsAppConfig {
  accountSid: string;
  /** Auth Token mode signs webhooks; API Key mode has a secret in the webhook's path. */
  credentials: { mode: "auth_token"; authToken: string } | { mode: "api_key"; apiKeySid: string; apiKeySecret: string };
  /** Plain E.164. */
  whatsappNumber: string;
}

/**
 * The credential of an account that only one agent may have in use, since two would take each other's messages; null
 * where each agent has an address of its own for the account. `fields` are those of the channel's stored configuration.
 */
export function exclusiveCredential(type: string, fields: Readonly<Record<string, unknown>>): string | null {
  const credential = type === "telegram" ? fields.botToken : type === "slack" ? fields.appToken : null;
  return typeof credential === "string" ? `${type}:${credential}` : null;
}

/** The opened settings of an agent's channel. */
export type MessengerConfig =
  | { name: "telegram"; config: TelegramConfig }
  | { name: "slack"; config: SlackConfig }
  | { name: "whatsapp"; config: WhatsAppConfig };

/** The head of a call of a messenger's webhook. */
export interface WebhookHead {
  headers: Headers;
  /** The secret that the channel was registered with; null for none. */
  secret: string | null;
  /** The last segment of a path that carries a secret; null for none. */
  pathSecret: string | null;
}

/** A call of a messenger's webhook, as it came. */
export interface WebhookCall extends WebhookHead {
  /** The address that the messenger called and signed. */
  url: string;
  body: Uint8Array<ArrayBuffer>;
}

/** The status for a call that is not proven to come from the messenger (spec "Authentication" 7, decisions §8). */
export type Unproven = 401 | 403 | 404;

/** The meaning of a webhook call. */
export type Received =
  | { kind: "refused"; status: Unproven }
  /** It can't be read just now: the messenger is to bring it again (503). */
  | { kind: "later" }
  /** Nothing to store; the messenger wants this text back. */
  | { kind: "answer"; text: string }
  /** The arrivals, which may be none. */
  | { kind: "arrivals"; arrivals: Arrival[] };

/** One thing that a messenger reports. */
export type Arrival = Incoming | DeletedMessage | MovedChat;

/** A person took a message back. */
export interface DeletedMessage {
  /** The provider id of the message, which may never have come. */
  deletes: string;
  channelId: string;
}

/** A chat has another id from now on, such as a Telegram group that became a supergroup. */
export interface MovedChat {
  movedFrom: string;
  movedTo: string;
}

/** A message of a person. */
export interface Incoming {
  /** The messenger's own id of the message, the same in each redelivery; unique for one agent and channel. */
  providerId: string;
  /**
   * The origin of the message and target of the reply, such as a chat, a topic of it or a thread. Each is a
   * conversation.
   */
  channelId: string;
  /** The messenger's id of the person. */
  sender: string;
  senderName: string | null;
  /** Whether only the person and the agent read the chat. */
  isPrivate: boolean;
  /** Without the agent's own mention; empty when only files came. */
  text: string;
  files: IncomingFile[];
  /** The provider id of the message that this one corrects, which may never have come; null for a new one. */
  edits: string | null;
  /** The message that this one refers to. */
  quotes: Quote[];
  /** The album that the message is a part of; null for none. */
  album: Album | null;
}

/** Words of others, or earlier ones, that a message refers to: its sender does not say them now. */
export interface Quote {
  kind: "reply" | "forward";
  /** Its author: the agent, the sender of the message, or another one; null where the messenger does not tell. */
  author: "agent" | "sender" | { id: string | null; name: string | null } | null;
  /** Empty where only files came, or where the messenger does not tell. */
  text: string;
  /** The part of it that the sender chose; null for all of it. */
  passage: string | null;
  /** The provider id of a message that the messenger names and does not repeat; null otherwise. */
  messageId: string | null;
}

/** A message of a chat that another one refers to, as its messenger tells of it when it is asked. */
export interface Quoted extends Pick<Quote, "author" | "text"> {
  files: IncomingFile[];
}

/** Pictures and other files that a person sent at once, which the messenger tells one by one. */
interface Album {
  id: string;
  /** Whether this part addresses the agent. In a group only one part names it, which may be the last to come. */
  isMeant: boolean;
}

/** The chat that a `channelId` lies in: itself, or the one whose topic or thread it is. */
export const chatOf = (channelId: string): string => channelId.split(":", 1)[0] ?? "";

/** A place in a chat as it is called in another one. */
export const inChat = (channelId: string, chat: string): string => chat + channelId.slice(chatOf(channelId).length);

/** Whether a target is the id of a person whose private chat has an id of its own. */
export const namesPerson = (name: MessengerName, target: string): boolean => name === "slack" && /^[UW]/.test(target);

/** A picture, document or voice note that can be downloaded. */
export interface IncomingFile {
  /** The file's id at the messenger, or its address there. */
  ref: string;
  /** The messenger's lasting id of the file, where `ref` may be another one each time that the file is told of. */
  lastingId?: string | undefined;
  /** Whether the file belongs to the quoted message, and not to the message itself. */
  isQuoted?: boolean | undefined;
  name: string;
  mime: string;
  /** In bytes, if the messenger says. */
  size: number | null;
}

/** A messenger's refusal of a call of ours. The message may be shown and stored: it holds no credential. */
export class MessengerError extends Error {
  /** Whether the same call would be refused again, so that it is not repeated. */
  readonly isPermanent: boolean;
  /** Milliseconds that the messenger asks to wait; null when it names none. */
  readonly retryAfterMs: number | null;
  /** Whether the messenger may have sent the message all the same, since its answer was lost. */
  readonly mayBeDone: boolean;
  /** Whether the messenger refuses the account's credentials, so that every call is refused until they are changed. */
  readonly isOfAccount: boolean;
  /** The id that the addressed chat has now; null while it has that by which it was addressed. */
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

/** One check of a channel's test (decisions §8). */
export interface ChannelCheck {
  name: "credentials" | "webhook" | "reachable";
  ok: boolean;
  message: string;
}

/** A webhook that a channel wants. */
export interface WantedWebhook {
  url: string;
  secret: string | null;
}

/** Stores what arrived; resolves when it is stored. */
export type Take = (arrivals: Arrival[]) => Promise<void>;

/**
 * An account at a messenger: the bot of one agent. All calls reject with a `MessengerError`, or with the signal's reason
 * when it aborts.
 */
export interface MessengerAccount {
  /** How long a typing notice is shown, in milliseconds; null where there is none. */
  readonly typingMs: number | null;
  /** Whether the operator lets the agent answer the people at a `channelId`. */
  answers(channelId: string): boolean;
  /** The refusal of a webhook call that its head alone shows to be unproven; null where the body decides. */
  refuses(head: WebhookHead, now: number): Unproven | null;
  /** Verifies and reads a webhook call. Never rejects; what is no message is read as none. */
  receive(call: WebhookCall, now: number): Promise<Received>;
  /** Sends Markdown to a `channelId`, as plain text where the messenger refuses the markup. Answers its message id. */
  send(channelId: string, markdown: string, signal: AbortSignal): Promise<string>;
  /** Shows that the agent is typing. */
  typing(channelId: string, signal: AbortSignal): Promise<void>;
  /** The bytes of a file; rejects with `FileTooLarge` where it has more than `maxBytes`. */
  download(file: IncomingFile, maxBytes: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * The message `messageId` of a chat, which `message` refers to; null where it is gone. Absent where messages bring along all
   * that can be known.
   */
  quoted?(
    message: Pick<Incoming, "channelId" | "sender">,
    messageId: string,
    signal: AbortSignal,
  ): Promise<Quoted | null>;
  /** Has the messenger call `wanted`, or, with null, call nothing. Where people do this by hand, does nothing. */
  register(wanted: WantedWebhook | null, signal: AbortSignal): Promise<void>;
  /** Has the messenger check the credentials. Answers what it says about the account. */
  prove(signal: AbortSignal): Promise<ChannelCheck>;
  /** Whether the messenger takes the credentials, and whether it calls `wanted` and reaches it. */
  check(wanted: WantedWebhook | null, signal: AbortSignal): Promise<ChannelCheck[]>;
  /**
   * Asks the messenger for what arrives until the signal aborts, and hands each group to `take`; a group whose `take` rejects
   * is asked for again. Calls `onConnected` each time that the messenger was reached. Rejects when the messenger refuses
   * or can't be reached. Absent where messages only come by webhook.
   */
  follow?(take: Take, signal: AbortSignal, onConnected?: () => void): Promise<void>;
}

/** The ways to the messengers. */
export interface Messengers {
  /** `loadScrub` loads the scrub of the account's agent; the account calls it when it shows words of the messenger. */
  account(of: MessengerConfig, loadScrub: LoadScrub): MessengerAccount;
}
