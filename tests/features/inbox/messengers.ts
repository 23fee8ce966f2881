import { and, asc, eq } from "drizzle-orm";
import { createMessengers } from "../../../src/adapters/messengers/index.ts";
import { systemClock } from "../../../src/adapters/node/clock.ts";
import { type Ctx, publicAddress } from "../../../src/context/ctx.ts";
import type { Arrival, Incoming, MessengerName } from "../../../src/core/channels/messengers.ts";
import { agents, channels, conversations, inbox, jobs, outbox } from "../../../src/db/schema.ts";
import { openMessenger } from "../../../src/features/channels/index.ts";
import { saveRow } from "../../../src/features/channels/row.ts";
import { createActivity } from "../../../src/features/inbox/activity.ts";
import { createStore } from "../../../src/features/inbox/intake/store.ts";
import { nowhere } from "../../adapters/messengers/accounts.ts";
import { type Harness, harness } from "../../harness.ts";

type Options = NonNullable<Parameters<typeof harness>[0]>;

export const telegramFields = {
  botToken: `1000:${"t".repeat(35)}`,
  webhookSecret: "hook-secret",
  transport: "webhook",
};
export const slackFields = { botToken: "xoxb-1-test", signingSecret: "5".repeat(32), transport: "webhook" };
export const twilioFields = {
  mode: "auth_token",
  accountSid: `AC${"1".repeat(32)}`,
  authToken: "t".repeat(32),
  whatsappNumber: "+390612345678",
};
const usual = { telegram: telegramFields, slack: slackFields, whatsapp: twilioFields };

/** No test sends a byte beyond the loopback. */
const unreachable = { telegram: nowhere, slack: nowhere, whatsapp: nowhere };

/** Stores a messenger's channel of an agent. */
export async function saveChannel(
  { services }: Pick<Harness, "services">,
  slug: string,
  name: MessengerName,
  { fields = usual[name], enabled = true }: { fields?: Record<string, string>; enabled?: boolean } = {},
): Promise<void> {
  const { db } = services.database;
  const [agent] = await db.select().from(agents).where(eq(agents.slug, slug));
  if (!agent) throw new Error("There is no such agent");
  const ctx = { ...services, actor: { type: "system", id: null, name: "test" } } as Ctx;
  const start = { status: "running", registeredAddress: publicAddress(services), accountHmac: null } as const;
  await saveRow(db, ctx, agent.id, name, { enabled, config: fields, start });
}

/** An agent on messengers, whose worker runs when the test says so. */
export async function messengerHarness({
  agent: fields = {},
  names = ["telegram"],
  bases = {},
  ...options
}: Options & {
  agent?: Record<string, unknown>;
  names?: MessengerName[];
  bases?: Partial<Record<MessengerName, string>>;
} = {}) {
  const messengers = createMessengers({ clock: systemClock, bases: { ...unreachable, ...bases } });
  const h = await harness({ messengers, ...options });
  const { db } = h.services.database;
  const agent = await h.agent(fields);
  for (const name of names) await saveChannel(h, agent.slug, name);

  const post = (path: string, init: { headers?: Record<string, string>; body?: BodyInit; json?: unknown }) =>
    h.request(`/webhooks/${path}`, { method: "POST", ...init });
  /** Telegram sends an update. */
  const telegram = (
    json: unknown,
    headers: Record<string, string> = { "X-Telegram-Bot-Api-Secret-Token": "hook-secret" },
  ) => post(`telegram/${agent.slug}`, { json, headers });

  return {
    ...h,
    agent,
    another: h.agent,
    post,
    telegram,
    /** A person writes in a private chat. */
    say: (text: string, id = nextMessage(), from = 42) => telegram(privateUpdate(text, id, from)),
    rows: async () => ({
      inbox: await db.select().from(inbox).orderBy(asc(inbox.conversationId), asc(inbox.seq)),
      outbox: await db.select().from(outbox).orderBy(asc(outbox.createdAt), asc(outbox.part), asc(outbox.id)),
      conversations: await db.select().from(conversations),
      jobs: await db.select().from(jobs).orderBy(asc(jobs.kind), asc(jobs.key)),
      channel: (
        await db
          .select()
          .from(channels)
          .where(and(eq(channels.type, "telegram")))
      )[0],
    }),
  };
}

let messages = 0;
export const nextMessage = () => {
  messages += 1;
  return messages;
};

export function privateUpdate(text: string, id: number, from = 42) {
  const person = { id: from, is_bot: false, first_name: "Ada" };
  const chat = { id: from, type: "private", first_name: "Ada" };
  return { update_id: id, message: { message_id: id, from: person, chat, date: 1_767_225_600, text } };
}

/** A message as an adapter reads it. */
export function incoming(fields: Partial<Incoming> = {}): Incoming {
  const id = nextMessage();
  return {
    providerId: `42:${id}`,
    channelId: "42",
    sender: "42",
    senderName: "Ada",
    isPrivate: true,
    text: `Message ${id}`,
    files: [],
    edits: null,
    quotes: [],
    album: null,
    ...fields,
  };
}

/** Stores messages as a separate process, which no notice wakes. */
export async function storing({ services }: Pick<Harness, "services">, slug: string, name: MessengerName = "telegram") {
  const store = createStore({ services, activity: createActivity(services), tell: () => {}, wake: () => {} });
  const channel = await openMessenger(services, { slug }, name);
  if (!channel) throw new Error("The channel is not set up");
  return (...arrivals: Arrival[]) => store(channel, arrivals);
}
