import { type ReadonlySignal, signal } from "@preact/signals";
import { type ActivityEvent, type ChatEvent, type ChatOptions, createChat } from "../../../../client/index.ts";
import type { StreamedActivity } from "../../../data/activity-stream.ts";
import { api, connection, isRefused, reasonOf } from "../../../data/api.ts";
import { noticeEnd } from "../../../data/session.ts";
import { applyEvent, type Entry, entriesOf, newReply, type Reply } from "../../../transcript/reply.ts";

/** A question without an answer yet. */
interface OpenQuestion {
  question: string;
  model: string | null;
  /** The idempotency key: the server answers the question once, even if it is sent several times. */
  key: string;
  /** The turn that answers it, set at its first output: before, the server drops the turn when the page is left. */
  turn: string | null;
}

/** A chat as this tab stores it for a reload. */
interface StoredChat {
  chatId: string;
  asked: OpenQuestion | null;
}

/** The reason of an abort by the person. */
const stopped = new Error("Stopped");

const randomId = () =>
  [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** The options of a chat, besides its agent. */
interface Options {
  /** Tells the chats of an agent in this tab apart. */
  name: string;
  /** The model for the next message in place of the agent's; null: the agent's. */
  model: () => string | null;
}

/** A conversation with an agent in the playground. */
export class PlaygroundChat {
  readonly #slug: string;
  readonly #options: Options;
  readonly #chat;
  readonly #entries = signal<readonly Entry[]>([]);
  readonly #busy = signal(false);
  readonly #loading = signal(true);
  readonly #failure = signal<string | null>(null);
  readonly #lost = signal(false);
  /** Whether the server may have messages of this conversation. */
  #known: boolean;
  #place: StoredChat;
  /** The last question on this page. */
  #asked: OpenQuestion | null = null;
  /** The id of the turn being shown, from its first event on. */
  #turn: string | null = null;
  #controller: AbortController | null = null;

  constructor(slug: string, options: Options) {
    this.#slug = slug;
    this.#options = options;
    this.#chat = createChat(connection, slug, "playground");
    const stored = this.#stored();
    this.#known = stored !== null;
    this.#place = stored ?? { chatId: randomId(), asked: null };
  }

  get entries(): ReadonlySignal<readonly Entry[]> {
    return this.#entries;
  }

  /** Whether a reply is arriving. */
  get busy(): ReadonlySignal<boolean> {
    return this.#busy;
  }

  /** Whether the stored messages are being read. */
  get loading(): ReadonlySignal<boolean> {
    return this.#loading;
  }

  /** Why the stored messages could not be read. */
  get failure(): ReadonlySignal<string | null> {
    return this.#failure;
  }

  /** Whether the connection broke and is being retried. */
  get lost(): ReadonlySignal<boolean> {
    return this.#lost;
  }

  get conversationId(): string {
    return `${this.#slug}:playground:${this.#place.chatId}`;
  }

  /** Shows the chat as it was before a reload, and follows a reply that is still arriving. */
  async open(): Promise<void> {
    if (this.#known) await this.#read();
    this.#loading.value = false;
    await this.#goOn();
  }

  async #read(): Promise<void> {
    const { conversationId } = this;
    try {
      // The last messages, if there are more.
      const { messages } = await api.listMessages({ conversationId, limit: 200, order: "desc" });
      // Meanwhile a message was sent, or another conversation was begun.
      if (this.#busy.value || conversationId !== this.conversationId) return;
      const entries = entriesOf(messages.reverse(), conversationId, true);
      // A reply that waits for approval stays as it is: it has the event id from which its stream resumes.
      if (!isSameWait(entries.at(-1), this.#entries.value.at(-1))) this.#entries.value = entries;
    } catch (error) {
      noticeEnd(error);
      // A conversation without messages is not stored yet.
      if (!isRefused(error, 404)) this.#failure.value = reasonOf(error);
    }
  }

  /** Resolves to whether the server accepted the message; after the end of the session it accepts none. */
  async send(text: string): Promise<boolean> {
    if (this.#busy.value) return false;
    const asked: OpenQuestion = { question: text, model: this.#options.model(), key: randomId(), turn: null };
    this.#keep({ ...this.#place, asked });
    return this.#ask(asked);
  }

  /** Sends the last question again. */
  async again(): Promise<void> {
    const last = this.#entries.value.findLast((entry) => entry.role === "user");
    if (last?.role === "user") await this.send(last.text);
  }

  /** Stops the turn at the server; the output so far is stored. */
  async stop(): Promise<void> {
    // The server drops a turn without output when its client disconnects.
    if (this.#turn === null) this.#controller?.abort(stopped);
    else await this.#chat.stop(this.#turn);
  }

  /** Decides a tool call that waits for approval, and follows the turn. */
  async decide(reply: Reply, toolCallId: string, approved: boolean, reason?: string): Promise<void> {
    const body = { approved, ...(reason ? { reason } : {}) };
    await api.decideApproval({ id: this.conversationId, toolCallId, body });
    const waiting = reply.waiting.filter((id) => id !== toolCallId);
    this.#replace(reply, { ...reply, waiting });
    if (waiting.length === 0) await this.#continue(reply);
  }

  /** Follows a waiting reply, or reads it, after somebody decided elsewhere. */
  async hear({ event, data }: StreamedActivity): Promise<void> {
    const reply = this.#entries.value.at(-1);
    if (reply?.role !== "assistant" || reply.state !== "approval" || this.#busy.value) return;
    if (data.conversationId !== this.conversationId) return;
    if (event === "persisted") await this.#read();
    else if (isCallAfter(data, reply)) await this.#continue(reply);
  }

  /** Follows a turn after the decisions about its tool calls. */
  async #continue(reply: Reply): Promise<void> {
    const { lastEventId } = reply;
    // A stored reply has no event id, so it is read again when complete.
    if (lastEventId === null || this.#busy.value) return;
    const decided: Reply = { ...reply, waiting: [], state: "running" };
    await this.#follow((options) => this.#chat.resume(lastEventId, options), decided);
  }

  /** Begins another conversation. */
  restart(): void {
    this.#controller?.abort();
    this.#entries.value = [];
    this.#failure.value = null;
    this.#keep({ chatId: randomId(), asked: null });
  }

  /** Disconnects the page; the turn goes on at the server. */
  leave(): void {
    this.#controller?.abort();
  }

  /** Shows a reply as it arrives. Resolves to whether the session still exists. */
  async #follow(
    open: (options: ChatOptions) => AsyncGenerator<ChatEvent, void, undefined>,
    begun: Reply = newReply,
  ): Promise<boolean> {
    const controller = new AbortController();
    this.#controller = controller;
    this.#turn = begun.messageId;
    this.#busy.value = true;
    // A reply that continues after a decision stays where it is.
    let reply = begun;
    const at = this.#entries.value.findIndex((entry) => isOf(entry, begun.messageId));
    const place = at < 0 ? this.#entries.value.length : at;
    const show = (next: Reply) => {
      reply = next;
      this.#entries.value = this.#entries.value.toSpliced(place, 1, reply);
    };
    show(begun);
    try {
      const onLost = () => {
        this.#lost.value = true;
      };
      for await (const event of open({ signal: controller.signal, onLost })) {
        this.#lost.value = false;
        show(applyEvent(reply, event));
        this.#note(reply);
      }
    } catch (error) {
      noticeEnd(error);
      if (isRefused(error, 401)) return false;
      if (error === stopped) show({ ...reply, state: "stopped" });
      else if (!controller.signal.aborted) show({ ...reply, state: "done", error: reasonOf(error) });
    } finally {
      if (this.#controller === controller) {
        this.#busy.value = false;
        this.#lost.value = false;
        const { aborted, reason } = controller.signal;
        if (!aborted || reason === stopped) this.#keep({ ...this.#place, asked: null });
      }
    }
    return true;
  }

  /** After a reload, follows the turn of the last question. If the turn had no output yet, sends the question again. */
  async #goOn(): Promise<void> {
    const { asked } = this.#place;
    if (!asked || this.#entries.value.some((entry) => isOf(entry, asked.turn))) return;
    await this.#ask(asked);
    const { value: entries } = this.#entries;
    const last = entries.at(-1);
    // The turn may have ended and been stored meanwhile.
    const isStored = last?.role === "assistant" && entries.slice(0, -1).some((entry) => isOf(entry, last.messageId));
    if (isStored) this.#entries.value = entries.slice(0, -2);
  }

  #ask(asked: OpenQuestion): Promise<boolean> {
    const { question, model, key, turn } = asked;
    this.#asked = asked;
    this.#entries.value = [...this.#entries.value, { role: "user", text: question, at: null }];
    if (turn !== null) return this.#follow((options) => this.#chat.resume(`${turn}:0`, options));
    const body = { messages: [{ role: "user" as const, content: question }], chat_id: this.#place.chatId, model };
    const headers = { "Idempotency-Key": key };
    return this.#follow((options) => this.#chat.stream(body, { ...options, headers }));
  }

  #note({ messageId: turn, parts }: Reply): void {
    this.#turn = turn;
    const said = parts.some(({ type }) => type !== "hook");
    if (!said || turn === null || this.#asked === null || turn === this.#place.asked?.turn) return;
    this.#keep({ ...this.#place, asked: { ...this.#asked, turn } });
  }

  #replace(old: Reply, next: Reply): void {
    this.#entries.value = this.#entries.value.map((entry) => (entry === old ? next : entry));
  }

  #key(): string {
    return `agent-engine.playground.${this.#slug}.${this.#options.name}`;
  }

  #stored(): StoredChat | null {
    try {
      const value: unknown = JSON.parse(sessionStorage.getItem(this.#key()) ?? "null");
      return typeof value === "object" ? (value as StoredChat | null) : null;
    } catch {
      return null;
    }
  }

  #keep(place: StoredChat): void {
    this.#place = place;
    sessionStorage.setItem(this.#key(), JSON.stringify(place));
  }
}

/**
 * Whether a tool call belongs to a turn after the reply's. The call's id begins with the id of its turn, and turn ids
 * are ordered by time.
 */
const isCallAfter = ({ kind, id }: ActivityEvent, { messageId }: Reply) =>
  kind === "tool-start" && messageId !== null && id > `${messageId};`;

const isSameWait = (one: Entry | undefined, other: Entry | undefined) =>
  one?.role === "assistant" && one.state === "approval" && other !== undefined && isOf(other, one.messageId);

const isOf = (entry: Entry, turn: string | null) =>
  turn !== null && entry.role === "assistant" && entry.messageId === turn;
