import { setTimeout as sleep } from "node:timers/promises";
import { createChat } from "../../src/client/index.ts";
import { agent, type Cluster } from "./cluster.ts";
import { replyTo } from "./model.ts";

/** The figures of a kind of fault, as callers saw it. */
export interface Seen {
  times: number;
  answered: number;
  /** Attempts that were refused, or broke off. */
  failed: Map<string, number>;
  /** The longest time without an answer to anybody, in milliseconds. */
  longestQuietMs: number;
  /** The longest time from a question to its answer, in milliseconds. */
  longestWaitMs: number;
}

/** Callers of all kinds, who repeat each question until it is answered. What they asked stands here. */
export class Load {
  /** The questions of each conversation, in order, by its `ref`. */
  readonly asked = new Map<string, string[]>();
  /** The marks of events that were acknowledged. */
  readonly events: string[] = [];
  /** Replies that were not those to their questions. */
  readonly wrong: string[] = [];
  readonly seen = new Map<string, Seen>();
  readonly #cluster: Cluster;
  readonly #restMs: number;
  readonly #callers: Promise<void>[];
  #isOver = false;
  #fault: Seen = this.#seenOf("nothing");
  #lastAnswer = performance.now();

  /** Each caller rests for about so long after an answer. */
  constructor(cluster: Cluster, restMs: number) {
    this.#cluster = cluster;
    this.#restMs = restMs;
    this.#callers = [
      ...["a", "b", "c"].map((name) =>
        this.#converse(name, (chat, text, number) => this.#complete(chat, text, number % 2 === 0)),
      ),
      ...["d", "e"].map((name) => this.#converse(name, (chat, text) => this.#follow(chat, text))),
      ...[7_001, 7_002].map((chat) => this.#write(chat)),
      this.#post(),
    ];
  }

  /** Counts what callers see from now on for this fault. */
  during(fault: string): void {
    this.#fault = this.#seenOf(fault);
    this.#fault.times += 1;
    this.#lastAnswer = performance.now();
  }

  /** Until each caller has the answer to a question that it asks from now on. */
  async calm(): Promise<void> {
    const before = [...this.asked.values()].map((questions) => questions.length);
    // The question after that one is asked when its answer was there.
    while ([...this.asked.values()].some((questions, index) => questions.length < (before[index] ?? 0) + 2))
      await sleep(50);
  }

  /** Asks no more. Resolves when all that was asked is answered. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#callers);
  }

  /** Why attempts failed during a fault, and how often. */
  failures(fault: string): [reason: string, times: number][] {
    return [...this.#seenOf(fault).failed];
  }

  /** A row for each fault; times in seconds. */
  figures(): Record<string, object> {
    const seconds = (ms: number) => (ms / 1000).toFixed(1);
    const rows = [...this.seen].map(([fault, { times, answered, failed, longestQuietMs, longestWaitMs }]) => {
      const reasons = [...failed].map(([reason, count]) => `${count} × ${reason}`).join(", ");
      return [
        fault,
        { times, answered, quiet: seconds(longestQuietMs), wait: seconds(longestWaitMs), failed: reasons },
      ];
    });
    return Object.fromEntries(rows);
  }

  #seenOf(fault: string): Seen {
    const seen = this.seen.get(fault) ?? {
      times: 0,
      answered: 0,
      failed: new Map(),
      longestQuietMs: 0,
      longestWaitMs: 0,
    };
    this.seen.set(fault, seen);
    return seen;
  }

  #rest(): Promise<void> {
    return sleep(this.#restMs * (0.5 + Math.random()));
  }

  /** Repeats an attempt until it succeeds. */
  async #untilDone(attempt: () => Promise<unknown>): Promise<void> {
    const began = performance.now();
    for (;;) {
      const failure = await attempt().then(() => null, String);
      const { failed } = this.#fault;
      if (failure === null) break;
      failed.set(failure, (failed.get(failure) ?? 0) + 1);
      await sleep(200);
    }
    const now = performance.now();
    this.#fault.answered += 1;
    this.#fault.longestQuietMs = Math.max(this.#fault.longestQuietMs, now - this.#lastAnswer);
    this.#fault.longestWaitMs = Math.max(this.#fault.longestWaitMs, now - began);
    this.#lastAnswer = now;
  }

  async #converse(chat: string, ask: (chat: string, text: string, number: number) => Promise<string>): Promise<void> {
    const questions: string[] = [];
    this.asked.set(`${agent.slug}:web:api-${chat}`, questions);
    for (let number = 1; !this.#isOver; number++) {
      const text = `${chat}-${number}`;
      questions.push(text);
      await this.#untilDone(async () => {
        const reply = await ask(chat, text, number);
        if (reply !== replyTo(text)) this.wrong.push(`${text}: ${reply}`);
      });
      await this.#rest();
    }
  }

  /** By the chat-completions API, as a client that repeats a call with its key, and waits as long as it is told to. */
  async #complete(chat: string, text: string, stream: boolean): Promise<string> {
    const response = await fetch(`${this.#cluster.url}/v1/chat/completions`, {
      method: "POST",
      headers: { Authorization: `Bearer ${agent.key}`, "Content-Type": "application/json", "Idempotency-Key": text },
      body: JSON.stringify({ model: agent.slug, messages: [{ role: "user", content: text }], chat_id: chat, stream }),
      signal: AbortSignal.timeout(120_000),
    });
    const body = await response.text();
    if (!response.ok) {
      await sleep(1_000 * Number(response.headers.get("Retry-After") ?? 0));
      throw new Error(String(response.status));
    }
    if (!stream) return JSON.parse(body).choices[0].message.content;
    if (!body.includes("data: [DONE]") || body.includes('"error"')) throw new Error("broken stream");
    const events = [...body.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
    return events.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  }

  /** By the native stream, which our own client resumes. */
  async #follow(chat: string, text: string): Promise<string> {
    const client = createChat({ baseUrl: this.#cluster.url, token: agent.key }, agent.slug);
    const body = { messages: [{ role: "user" as const, content: text }], chat_id: chat };
    let reply = "";
    for await (const { event, data } of client.stream(body, { headers: { "Idempotency-Key": text } })) {
      if (event === "text-delta") reply += data.text;
      if (event === "error") throw new Error(data.message);
    }
    return reply;
  }

  /** By Telegram, whose updates one of the servers polls. */
  async #write(chatId: number): Promise<void> {
    const { telegram } = this.#cluster;
    const questions: string[] = [];
    this.asked.set(`${agent.slug}:telegram:${chatId}`, questions);
    const from = { id: chatId, is_bot: false, first_name: "Ann" };
    for (let number = 1; !this.#isOver; number++) {
      const text = `t${chatId}-${number}`;
      questions.push(text);
      await telegram.say(text, { from, chat: { id: chatId, type: "private", first_name: "Ann" } });
      await this.#untilDone(async () => {
        while (!telegram.sent.some((part) => part.chatId === chatId && part.text === replyTo(text))) await sleep(50);
      });
      await this.#rest();
    }
  }

  /** By events of another system, which posts each once. */
  async #post(): Promise<void> {
    for (let number = 1; !this.#isOver; number++) {
      const mark = `e-${number}`;
      const body = JSON.stringify({ mark });
      const headers = { "Content-Type": "application/json" };
      const response = await fetch(this.#cluster.url + this.#cluster.webhook, { method: "POST", headers, body }).catch(
        () => null,
      );
      if (response?.ok) this.events.push(mark);
      await response?.arrayBuffer().catch(() => {});
      await this.#rest();
    }
  }
}
