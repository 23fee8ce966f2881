import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { slackEvent, slackHeaders, slackTokens } from "../../messengers/slack-server.ts";
import { telegramToken } from "../../messengers/telegram-server.ts";
import { ownerToken, send } from "../engine.ts";
import { markOf, type World } from "./stand-ins.ts";

const slug = "messengers";

/** Makes an agent on Telegram and Slack, and waits until both have its webhook. Answers the owner's token. */
export async function createAgent(url: string, { telegram }: World, debounceMs?: number): Promise<string> {
  const token = await ownerToken(url);
  const model = { provider: "openai-compatible", model: "echo", fastModel: "echo", memoryEnabled: false };
  await send(url, "POST", "/api/instances", { slug, ...model, debounceMs }, token);
  const channel = (name: string, config: object) =>
    send(url, "PUT", `/api/instances/${slug}/channels/${name}`, { enabled: true, config }, token);
  await channel("telegram", { botToken: telegramToken, transport: "webhook" });
  const { botToken, signingSecret } = slackTokens;
  await channel("slack", { botToken, signingSecret, transport: "webhook" });
  while (!telegram.webhook()) await sleep(20);
  return token;
}

/** The number of messages of a channel in this state; in any state without one. */
export async function countOf(url: string, token: string, channel: string, status?: string): Promise<number> {
  const query = `direction=in&limit=1${status ? `&status=${status}` : ""}`;
  const path = `/api/instances/${slug}/channels/${channel}/messages?${query}`;
  const response = await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { total: number }).total;
}

export type Messenger = "telegram" | "slack";

/** Sends messages of people to the webhooks, each person in a private chat. */
export class People {
  readonly #pool: Pool;
  readonly #secret: string;
  #brought = 0;

  constructor(url: string, { telegram }: World) {
    this.#pool = new Pool(url, { connections: 64 });
    this.#secret = telegram.webhook()?.secret ?? "";
  }

  /** The status of the answer, and the time until it. */
  async say(over: Messenger, chat: number, message: number): Promise<{ status: number; ms: number }> {
    this.#brought += 1;
    const text = markOf(chat, message);
    const { headers, body } = over === "telegram" ? this.#update(chat, text) : event(chat, text, this.#brought);
    const startedAt = performance.now();
    const call = { method: "POST", path: `/webhooks/${over}/${slug}`, headers, body } as const;
    const answer = await this.#pool.request(call);
    await answer.body.dump();
    return { status: answer.statusCode, ms: performance.now() - startedAt };
  }

  #update(chat: number, text: string) {
    const from = { id: chat, is_bot: false, first_name: "Ada" };
    const message = { message_id: this.#brought, from, chat: { id: chat, type: "private" }, date: 1_767_225_600, text };
    return {
      headers: { "Content-Type": "application/json", "X-Telegram-Bot-Api-Secret-Token": this.#secret },
      body: JSON.stringify({ update_id: this.#brought, message }),
    };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

function event(chat: number, text: string, number: number) {
  const ts = `1767225600.${String(number).padStart(6, "0")}`;
  const where = { channel: `D${chat}`, channel_type: "im", user: `U${chat}` };
  const body = JSON.stringify(slackEvent({ type: "message", ...where, text, ts, event_ts: ts }, `Ev${number}`));
  return { headers: slackHeaders(body, Date.now()), body };
}
