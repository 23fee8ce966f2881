import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { agents, inbox } from "../../../src/db/schema.ts";
import { reply } from "../../scripted-model.ts";
import { answering } from "./answering.ts";
import { messengerHarness, privateUpdate, saveChannel } from "./messengers.ts";

const [mostOfAgent, mostOfOrganization] = [5_000, 20_000];
const refused = { statusCode: 503, message: "Too many messages wait to be answered: send it again later" };

type World = Awaited<ReturnType<typeof messengerHarness>>;

/** Leaves this many messages to an agent, each in a conversation of its own, waiting or answered. */
async function waiting({ services }: Pick<World, "services">, slug: string, count: number, status = "pending") {
  const agent = sql`from agents cross join generate_series(1, ${count}::int) as n where slug = ${slug}`;
  await services.database.db.execute(sql`
    with made as (
      insert into conversations (id, agent_id, organization_id, ref, channel, channel_id, subject)
      select gen_random_uuid(), agents.id, organization_id, gen_random_uuid()::text, 'telegram', 'c' || n, n::text ${agent}
      returning id, agent_id
    )
    insert into inbox (id, agent_id, channel, provider_id, conversation_id, seq, sender, payload, status)
    select gen_random_uuid(), agent_id, 'telegram', id::text, id, 1, '1', '{}'::jsonb, ${status} from made`);
}

/** Marks this many messages as answered. */
const done = ({ services }: Pick<World, "services">, count: number) =>
  services.database.db.execute(sql`
    update inbox set status = 'done' where id in (select id from inbox where status = 'pending' limit ${count}::int)`);

const texts = async ({ services }: Pick<World, "services">) =>
  (await services.database.db.select().from(inbox).orderBy(inbox.createdAt, inbox.id)).flatMap(({ payload }) => {
    const { text } = payload as { text?: string };
    return text === undefined ? [] : [text];
  });

const warnings = ({ logs }: Pick<World, "logs">) =>
  logs.filter((line) => line.includes("Messages are refused: too many wait to be answered"));

test("a message beyond those that may wait of an agent is refused until others are answered", async () => {
  // None is answered meanwhile.
  const h = await messengerHarness({ agent: { debounceMs: 30_000 } });
  await waiting(h, h.agent.slug, mostOfAgent, "done");
  await waiting(h, h.agent.slug, mostOfAgent - 2);
  // Each person writes in a chat of their own.
  expect((await h.say("1", 1, 101)).status).toBe(200);
  expect((await h.say("2", 2, 102)).status).toBe(200);
  const response = await h.say("3", 3, 103);
  expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "60"]);
  expect(await response.json()).toMatchObject(refused);
  expect(await texts(h)).toEqual(["1", "2"]);
  expect((await h.rows()).conversations.filter(({ channelId }) => channelId === "103")).toEqual([]);

  await h.clock.jump(5_000);
  expect((await h.say("3", 3, 103)).status).toBe(503);
  await done(h, 1);
  await h.clock.jump(4_999);
  expect((await h.say("3", 3, 103)).status).toBe(503);
  await h.clock.jump(1);
  expect((await h.say("3", 3, 103)).status).toBe(200);
  expect((await h.say("4", 4, 104)).status).toBe(503);
  expect((await texts(h)).toSorted()).toEqual(["1", "2", "3"]);
});

test("all agents of an organization together may have so many, and take nothing from another organization's", async () => {
  const h = await messengerHarness();
  const other = await h.createOrganization("other");
  const [beside, foreign] = [await h.another(), await h.another()];
  for (const { slug } of [beside, foreign]) await saveChannel(h, slug, "telegram");
  await h.services.database.db
    .update(agents)
    .set({ organizationId: other.id, workspaceId: other.workspaceId })
    .where(eq(agents.slug, foreign.slug));
  await waiting(h, h.agent.slug, mostOfOrganization - 1);
  const headers = { "X-Telegram-Bot-Api-Secret-Token": "hook-secret" };
  const say = async (slug: string, id: number) =>
    (await h.post(`telegram/${slug}`, { json: privateUpdate("Hello", id), headers })).status;
  expect(await say(beside.slug, 1)).toBe(200);
  expect(await say(beside.slug, 2)).toBe(503);
  expect(await say(foreign.slug, 3)).toBe(200);
});

test("a message to an inactive agent is acknowledged and dropped as ever, whatever waits", async () => {
  const h = await messengerHarness();
  await waiting(h, h.agent.slug, mostOfAgent);
  expect((await h.say("1")).status).toBe(503);
  await h.services.database.db.update(agents).set({ active: false });
  expect((await h.say("2")).status).toBe(200);
  expect(await texts(h)).toEqual([]);
});

test("the operator reads of refusals in the log, once a minute for an agent", async () => {
  const h = await messengerHarness();
  await waiting(h, h.agent.slug, mostOfAgent);
  for (let call = 0; call < 3; call += 1) expect((await h.say("Hello")).status).toBe(503);
  expect(warnings(h).map((line) => JSON.parse(line))).toMatchObject([{ level: "warn", agent: h.agent.slug }]);
  await h.clock.jump(60_000);
  expect((await h.say("Hello")).status).toBe(503);
  expect(warnings(h)).toHaveLength(2);
});

test("a message that is answered gives its space back", async () => {
  const h = await answering([reply("Hi"), reply("Hi again")]);
  await waiting(h, h.agent.slug, mostOfAgent - 1);
  expect((await h.say("1", 1)).status).toBe(200);
  expect((await h.say("2", 2)).status).toBe(503);
  await h.settle();
  await h.done(1);
  await h.clock.jump(5_000);
  expect((await h.say("2", 2)).status).toBe(200);
});
