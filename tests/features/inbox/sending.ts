import { asc, eq } from "drizzle-orm";
import { createMessengers } from "../../../src/adapters/messengers/index.ts";
import { publicAddress } from "../../../src/context/ctx.ts";
import type { MessengerName, Messengers } from "../../../src/core/channels/messengers.ts";
import { newId } from "../../../src/core/ids.ts";
import { agents, channels, jobs, outbox } from "../../../src/db/schema.ts";
import type { Engine } from "../../../src/engine.ts";
import { type Message, sendTo } from "../../../src/features/inbox/index.ts";
import { repliesOf } from "../../../src/features/inbox/outbox/replies.ts";
import { forTest } from "../../adapters/messengers/accounts.ts";
import { type Harness, harness } from "../../harness.ts";
import { slackServer, slackTokens } from "../../messengers/slack-server.ts";
import { adaChat, telegramServer, telegramToken } from "../../messengers/telegram-server.ts";
import { reply, type ScriptedModel, scriptedModel } from "../../scripted-model.ts";
import { ownTurns, takeOwnTurn } from "../../turns.ts";
import { eventually } from "../chat/chat.ts";

export const adaTarget = String(adaChat.id);

/** The stored settings of the stand-ins' accounts. */
const configs = {
  telegram: { botToken: telegramToken },
  slack: { botToken: slackTokens.botToken, signingSecret: slackTokens.signingSecret },
  whatsapp: {},
} as const;

/** An agent with a channel at a stand-in of Telegram, and its outbox. */
export async function messaging(options: Parameters<typeof harness>[0] & { model?: ScriptedModel } = {}) {
  const telegram = await forTest(telegramServer());
  const slack = await forTest(slackServer());
  const bases = { telegram: telegram.base, slack: `${slack.url}/api` };
  // The accounts use the clock of the harness, which is made after them.
  const made: { h?: Harness } = {};
  const messengers: Messengers = {
    account(...of) {
      if (!made.h) throw new Error("There is no harness yet");
      return createMessengers({ clock: made.h.clock, bases }).account(...of);
    },
  };
  const { model = scriptedModel(({ prompt }) => reply(`Re: ${lastWords(prompt.at(-1)?.content)}`)) } = options;
  const h = await harness({ messengers, ...options, model });
  made.h = h;
  const { db } = h.services.database;

  const turnOn = async (agentId: string, type: MessengerName, config: object = configs[type]) => {
    const sealed = await h.services.cipher.seal(JSON.stringify(config), `${agentId}:channel:${type}`);
    const registeredAddress = publicAddress(h.services);
    const state = { enabled: true, status: "running", lastError: null, registeredAddress };
    const row = { keyId: sealed.keyId, config: sealed.ciphertext, ...state };
    await db
      .insert(channels)
      .values({ ...row, agentId, type })
      .onConflictDoUpdate({ target: [channels.agentId, channels.type], set: row });
  };
  const addAgent = async (fields: Record<string, unknown> = {}) => {
    const agent = await h.agent(fields);
    const [row] = await db.select({ id: agents.id }).from(agents).where(eq(agents.slug, agent.slug));
    if (!row) throw new Error("The agent is not there");
    return { ...agent, id: row.id };
  };
  const agent = await addAgent({ slug: "support" });
  await turnOn(agent.id, "telegram");
  const place = { agentId: agent.id, channel: "telegram", target: adaTarget } as const;

  const turns = ownTurns(h.services);
  /** A turn of a person in the private chat `target`, whose reply goes to the outbox. */
  const answer = async (text: string, { target = adaTarget, of = agent } = {}) => {
    const place = { agentId: of.id, channel: "telegram", target } as const;
    const turn = await takeOwnTurn(turns, of.slug, {
      door: "inbox",
      origin: { channel: "telegram", channelId: target, source: "user", depth: 0, subject: `telegram:${target}` },
      ref: `${of.slug}:telegram:${target}`,
      stored: true,
      input: { history: [], fresh: [text] },
      rule: "always-finish",
      requestId: newId(),
      throttle: null,
      alongside: (outcome) => ({ inboxIds: [], supersededAfter: null, ...repliesOf(place, outcome) }),
    });
    await turn.ended;
    return turn.id;
  };
  const say = (text: string, more: Partial<Message> = {}) =>
    h.services.database.transaction((tx) =>
      sendTo(tx, {
        ...place,
        organizationId: h.organization.id,
        turnId: null,
        text,
        ...more,
      }),
    );
  const rows = () => db.select().from(outbox).orderBy(asc(outbox.createdAt), asc(outbox.part), asc(outbox.id));
  /** Waits until the rows are as wanted, with upkeep by these engines meanwhile. */
  const settled = (wanted: (all: Awaited<ReturnType<typeof rows>>) => boolean, engines: Engine[] = [h.engine]) =>
    eventually(async () => {
      await Promise.all(engines.map((engine) => engine.tick()));
      const now = await rows();
      return wanted(now) && now;
    });
  /** Lets time pass while no job runs, so that no call is aborted by that. */
  const later = async (ms: number) => {
    await eventually(async () => (await db.select().from(jobs)).every(({ lockedUntil }) => lockedUntil === null));
    await h.clock.jump(ms);
  };
  const allSent = (engines?: Engine[]) => settled((all) => all.every(({ status }) => status === "sent"), engines);
  const channel = async (type: MessengerName = "telegram") => {
    await h.engine.closeRevoked();
    const all = await db.select().from(channels).where(eq(channels.type, type));
    return all.find(({ agentId }) => agentId === agent.id);
  };
  const texts = () => telegram.sent.map(({ text }) => text);
  return {
    ...h,
    db,
    telegram,
    slack,
    agent,
    addAgent,
    turnOn,
    answer,
    say,
    rows,
    settled,
    later,
    allSent,
    channel,
    texts,
    turns,
    model,
    place,
  };
}

function lastWords(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

/** Paragraphs of about 1000 characters. */
export const paragraphs = (count: number) =>
  Array.from({ length: count }, (_, index) => `${index + 1}. ${"word ".repeat(200)}`.trim()).join("\n\n");
