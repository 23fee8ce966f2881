import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import {
  agents,
  albums,
  auditLogs,
  conversations,
  files,
  hookExecutions,
  jobs,
  messages,
  optOuts,
  outbox,
  scheduledTasks,
  toolCalls,
  turns,
  userBudgetPeriods,
  userUsageDaily,
} from "../../../src/db/schema.ts";
import { saveMemory } from "../../../src/features/memories/index.ts";
import { compare, takeSnapshot } from "../../contract/rows.ts";
import { managedEdition } from "../../harness.ts";
import { finish, gate, reply, text } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { answering } from "../inbox/answering.ts";
import { incoming, storing } from "../inbox/messengers.ts";
import { managementKey, refusal } from "../organizations/callers.ts";

const zelda = { id: "700123456789", name: "Zelda", text: "canaryquux" };
const ada = { id: "42", name: "Ada", text: "bystander" };
type Known = typeof zelda;

const path = "/api/organizations/acme/erasures";

/** An agent that talked with two people in private and in a group, and rows of every other kind about both. */
async function world(
  script: Parameters<typeof answering>[0] = ({ prompt }) => reply(`You said ${JSON.stringify(prompt.at(-1))}`),
) {
  const h = await answering(script, {
    edition: managedEdition,
    agent: { debugEnabled: true, memoryEnabled: true, authEnabled: false },
  });
  const { db } = h.services.database;
  const owner = await h.as("owner");
  const [agent] = await db.select().from(agents).where(eq(agents.slug, h.agent.slug));
  if (!agent) throw new Error("There is no agent");
  const store = await storing(h, agent.slug);
  const own = { agentId: agent.id, organizationId: agent.organizationId };

  let answered = 0;
  const say = async ({ id, name, text: said }: Known, fields: object = {}) => {
    await store(incoming({ channelId: id, providerId: newId(), sender: id, senderName: name, text: said, ...fields }));
    answered += 1;
    await h.settle();
    await h.done(answered);
    await h.rested();
  };
  const inGroup = { isPrivate: false, channelId: "-100" };
  const ask = async ({ text: content, name }: Known, user: string, chat = `chat-of-${name}`) => {
    const json = { messages: [{ role: "user", content }], user, chat_id: chat, user_name: name };
    const address = `/api/instances/${agent.slug}/chat/stream`;
    const response = await h.request(address, {
      method: "POST",
      headers: { Authorization: `Bearer ${h.agent.key}` },
      json,
    });
    expect(await response.text()).toContain("event: done");
  };

  /** Rows that would come from features that the test does not run. */
  const plant = async ({ id, name, text: said }: Known) => {
    const subject = `telegram:${id}` as const;
    const [conversation] = await db.select().from(conversations).where(eq(conversations.subject, subject));
    if (!conversation) throw new Error("There is no conversation");
    const { id: conversationId, ref } = conversation;
    await saveMemory(h.services.database, { agent, subject, content: `${name} likes ${said}` });
    const learned = { agent, subject: "" as const, content: `Somebody likes ${said}`, conversationId };
    await saveMemory(h.services.database, learned);
    const task = { name: `Greet ${name}`, prompt: said, schedule: {}, anchorAt: new Date(), source: "agent" } as const;
    await db.insert(scheduledTasks).values({ ...own, ...task, subject, userName: name });
    const place = { agentId: agent.id, channel: "telegram" };
    await db.insert(outbox).values({ ...place, target: id, body: said, status: "sent" });
    await db.insert(optOuts).values({ ...place, sender: id, channelId: id });
    const part = incoming({ ...inGroup, sender: id, senderName: name, text: said });
    await db.insert(albums).values({ ...place, albumId: newId(), isMeant: false, parts: [part] });
    const used = { agentId: agent.id, subject, used: 7 };
    await db.insert(userBudgetPeriods).values({ ...used, month: "2026-01-01" });
    const usage = { agentId: agent.id, turns: 1, promptTokens: 5, completionTokens: 6, costMicros: 7, priced: 1 };
    await db.insert(userUsageDaily).values({ ...usage, subject, conversationId, day: "2026-01-01" });
    const entry = { organizationId: agent.organizationId, actorType: "user" };
    const summaries = [{ conversationId: ref }, { subject: id, subjectChannel: "telegram" }];
    for (const summary of summaries) await db.insert(auditLogs).values({ ...entry, action: "test.entry", summary });
    const target = `GET /api/conversations/${ref}/turns`;
    await db.insert(auditLogs).values({ ...entry, action: "access.refuse", target });
    const key = `file-of-${name}`;
    await h.services.files.directory?.put(key, new TextEncoder().encode(said), "text/plain");
    const file = { name: `${said}.txt`, mime: "text/plain", size: said.length, sha256: "00", storageKey: key };
    await db.insert(files).values({ ...own, ...file, conversationId, store: "directory", status: "stored" });
    for (const turn of await db.select().from(turns).where(eq(turns.conversationId, conversationId))) {
      const call = { turnId: turn.id, agentId: agent.id, toolCallId: "c", name: "t", status: "executed" };
      await db.insert(toolCalls).values({ ...call, args: { said }, reason: said });
      const hook = { turnId: turn.id, hookId: newId(), position: 0, event: "x", toolName: "t", durationMs: 1 };
      await db.insert(hookExecutions).values({ ...hook, conversationId, success: true, args: { said } });
    }
  };

  /** Lets half a minute pass, with upkeep, until the erasure has ended. */
  const pass = async () => {
    for (let left = 1; left > 0; ) {
      await h.clock.jump(30_000);
      await h.engine.tick();
      left = await eventually(async () => {
        const rows = await db.execute<{ locked: boolean }>(
          sql`select locked_until is not null as locked from jobs where kind in ('erasure', 'deleteFiles')`,
        );
        return rows.some(({ locked }) => locked) ? null : [rows.length];
      }).then(([count = 0]) => count);
    }
  };
  const erase = async (json: object, headers = owner) => h.request(path, { method: "POST", headers, json });
  return { ...h, db, assistant: agent, owner, say, inGroup, ask, plant, pass, erase };
}

test("an erasure leaves no byte of the person, and the rows of everybody else", async () => {
  const h = await world();
  for (const person of [ada, zelda]) await h.say(person);
  for (const person of [ada, zelda, ada]) await h.say(person, h.inGroup);
  const quote = { kind: "reply", author: { id: zelda.id, name: zelda.name }, text: zelda.text } as const;
  await h.say(ada, { ...h.inGroup, quotes: [{ ...quote, passage: null, messageId: null }] });
  for (const person of [ada, zelda]) {
    await h.plant(person);
    await h.ask(person, `user-${person.name}`);
  }
  await h.db.update(outbox).set({ status: "sent", retryAt: null });
  await h.db.delete(jobs);
  const place = { agentId: h.assistant.id, channel: "telegram", target: zelda.id };
  await h.db.insert(outbox).values({ ...place, body: zelda.text, status: "pending" });
  await h.db.insert(jobs).values({ kind: "outbox.send", key: zelda.id, payload: place, runAt: new Date("2999-01-01") });
  const before = await takeSnapshot(h.services.database);
  const logged = h.logs.length;

  const answer = await h.erase({ subject: zelda.id, subjectChannel: "telegram" });
  expect(answer.status).toBe(201);
  const { erasure } = await answer.json();
  await h.pass();
  expect((await h.erase({ subject: `user-${zelda.name}` })).status).toBe(201);
  await h.pass();

  const after = await takeSnapshot(h.services.database);
  const traces = [...after].flatMap(([table, rows]) =>
    [...rows.values()].map((row) => `${table} ${JSON.stringify(row)}`),
  );
  const named = new RegExp([zelda.id, zelda.name, zelda.text].join("|"), "i");
  expect(traces.filter((row) => named.test(row))).toEqual([]);
  expect(h.services.activity.ring.filter((event) => named.test(event.data))).toEqual([]);
  expect(h.logs.slice(logged).filter((line) => named.test(line))).toEqual([]);
  const bytes = (await h.services.files.directory?.get(`file-of-${zelda.name}`)) ?? null;
  expect(bytes).toBe(null);
  expect(await h.services.files.directory?.get(`file-of-${ada.name}`)).not.toBe(null);

  const isAdas = (row: object | null) => JSON.stringify(row).includes(ada.text) && !named.test(JSON.stringify(row));
  const changed = compare(before, after).filter((change) => isAdas(change.before));
  // Of the group: its title, and notes of debugging, whose prompts had all of its history.
  const ofGroup = ["turns debug", "conversations title,message_count"];
  expect(changed.filter(({ table, columns }) => !ofGroup.includes(`${table} ${columns}`))).toEqual([]);
  const kept = await h.db.select().from(messages).where(sql`${messages.content} like 'Ada (42): bystander%'`);
  expect(kept).toHaveLength(2);
  const sums = await h.db
    .select()
    .from(userUsageDaily)
    .where(eq(userUsageDaily.day, "2026-01-01"))
    .orderBy(userUsageDaily.subject);
  expect(sums.map(({ subject, turns: count, costMicros, priced }) => [subject, count, costMicros, priced])).toEqual([
    ["", 1, 7, 1],
    ["telegram:42", 1, 7, 1],
  ]);
  const entries = await h.db
    .select()
    .from(auditLogs)
    .where(sql`${auditLogs.action} like 'erasure.%'`)
    .orderBy(auditLogs.createdAt, auditLogs.id);
  const [begun, ended] = entries;
  expect(begun?.summary).toEqual({ erasureId: erasure.id, subject: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect([ended?.action, ended?.summary]).toEqual(["erasure.complete", { ...begun?.summary, held: 0 }]);
  const replaced = await h.db
    .select()
    .from(auditLogs)
    .where(sql`${auditLogs.summary} ->> 'subject' = ${begun?.summary.subject}`);
  expect(replaced.map(({ action }) => action)).toContain("test.entry");
});

test("an erasure needs an Owner's session, a person, and no legal hold", async () => {
  const h = await world();
  await h.say(zelda);
  const wanted = { subject: zelda.id, subjectChannel: "telegram" };
  const refused = async (...given: Parameters<typeof h.erase>) => refusal(h.erase(...given));
  expect(await refused(wanted, await managementKey({ ...h, agent: h.another }))).toEqual([
    403,
    "This route needs a signed-in session",
  ]);
  expect(await refused(wanted, await h.as("admin"))).toEqual([403, "Missing permission: org:write"]);
  expect(await refused({ subject: "" })).toEqual([400, "subject: must not be empty"]);
  expect((await h.erase({ subjectChannel: "telegram" })).status).toBe(400);
  expect(await refused({ ...wanted, instanceId: "nobody" })).toEqual([404, "Agent not found"]);
  await h.db.update(conversations).set({ legalHold: true });
  const held = [409, "A conversation of this person is under legal hold"];
  expect(await refused(wanted)).toEqual(held);
  expect(await refused({ ...wanted, instanceId: h.agent.slug })).toEqual(held);
  expect((await h.erase({ subject: zelda.id })).status).toBe(201);
});

test("a conversation that is put under legal hold meanwhile stays, and the audit log counts it", async () => {
  const h = await world();
  await h.say(zelda);
  expect((await h.erase({ subject: zelda.id, subjectChannel: "telegram", instanceId: h.agent.slug })).status).toBe(201);
  await h.db.update(conversations).set({ legalHold: true });
  await h.pass();
  expect(await h.db.$count(messages)).toBe(2);
  const [entry] = await h.db.select().from(auditLogs).where(eq(auditLogs.action, "erasure.complete"));
  expect(entry?.summary.held).toBe(1);
});

test("a person's running turn is stopped first, and leaves nothing", async () => {
  const end = gate();
  const h = await world(() => ({ parts: [...text("Half"), end.promise, ...text(zelda.text), finish()] }));
  const asked = h.ask(zelda, `user-${zelda.name}`);
  await h.model.called(1);
  expect((await h.erase({ subject: `user-${zelda.name}` })).status).toBe(201);
  await h.pass();
  await asked;
  const after = await takeSnapshot(h.services.database);
  const rows = [...after.values()].flatMap((table) => [...table.values()].map((row) => JSON.stringify(row)));
  expect(rows.filter((row) => [zelda.name, zelda.text].some((word) => row.includes(word)))).toEqual([]);
  const [turn] = await h.db.select().from(turns);
  expect([turn?.status, turn?.subject, turn?.conversationId]).toEqual(["aborted", "", null]);
});

test("a person of Slack is erased from every private chat, whatever its id", async () => {
  const h = await world();
  const own = { agentId: h.assistant.id, organizationId: h.assistant.organizationId, channel: "slack" };
  const { slug } = h.assistant;
  const chat = async (channelId: string, subject: `slack:${string}` | `conversation:${string}`) => {
    const place = { channelId, ref: `${slug}:slack:${channelId}`, subject, messageCount: 1 };
    const [row] = await h.db
      .insert(conversations)
      .values({ ...own, ...place })
      .returning({ id: conversations.id });
    await h.db.insert(messages).values({ conversationId: row?.id ?? "", seq: 1, role: "user", content: channelId });
  };
  await chat("D1:1.1", "slack:UZELDA");
  await chat("D2", "slack:UADA");
  await chat("UZELDA", `conversation:${slug}:slack:UZELDA`);
  await chat("C3:UZELDA2", `conversation:${slug}:slack:C3:UZELDA2`);
  for (const target of ["D1:1.1", "D1", "UZELDA", "D2", "UADA"]) {
    await h.db.insert(outbox).values({ agentId: h.assistant.id, channel: "slack", target, body: "Hi", status: "sent" });
  }
  expect((await h.erase({ subject: "UZELDA", subjectChannel: "slack" })).status).toBe(201);
  await h.pass();
  const left = await h.db.select().from(conversations).orderBy(conversations.channelId);
  expect(left.map(({ channelId }) => channelId)).toEqual(["C3:UZELDA2", "D2"]);
  const sent = await h.db.select().from(outbox).orderBy(outbox.target);
  expect(sent.map(({ target }) => target)).toEqual(["D2", "UADA"]);
  expect(await h.db.$count(messages)).toBe(2);
});

test("an erasure that fails after any of its transactions is continued", async () => {
  const h = await world();
  for (const person of [ada, zelda]) await h.say(person);
  for (const person of [zelda, ada]) await h.say(person, h.inGroup);
  await h.plant(zelda);
  expect((await h.erase({ subject: zelda.id, subjectChannel: "telegram" })).status).toBe(201);
  const { database } = h.services;
  const transaction = database.transaction.bind(database);
  let [most, count, failures] = [0, 0, 0];
  database.transaction = async (work) => {
    const result = await transaction(work);
    if (count++ < most) return result;
    [most, count, failures] = [most + 1, 0, failures + 1];
    throw new Error("The process ends here");
  };
  await h.pass();
  // Each attempt gets one transaction further, until one has less than that to do.
  expect(failures).toBeGreaterThan(1);
  const after = await takeSnapshot(database);
  const rows = [...after.values()].flatMap((table) => [...table.values()].map((row) => JSON.stringify(row)));
  expect(rows.filter((row) => [zelda.id, zelda.text].some((word) => row.includes(word)))).toEqual([]);
  expect(await h.db.$count(auditLogs, eq(auditLogs.action, "erasure.complete"))).toBe(1);
});

test("of a chat that two people share, the person's turns go", async () => {
  const h = await world();
  for (const person of [ada, zelda, ada]) await h.ask(person, `user-${person.name}`, "shared");
  expect((await h.erase({ subject: `user-${zelda.name}` })).status).toBe(201);
  await h.pass();
  const left = await h.db.select().from(messages).orderBy(messages.seq);
  expect(left.map(({ role, seq }) => [role, seq])).toEqual([
    ["user", 1],
    ["assistant", 2],
    ["user", 5],
    ["assistant", 6],
  ]);
  const rows = [...(await takeSnapshot(h.services.database)).values()].flatMap((table) => [...table.values()]);
  expect(rows.filter((row) => new RegExp(`${zelda.name}|${zelda.text}`, "i").test(JSON.stringify(row)))).toEqual([]);
  const subjects = await h.db.select({ subject: turns.subject }).from(turns).orderBy(turns.createdAt);
  expect(subjects.map(({ subject }) => subject)).toEqual([`web:user-${ada.name}`, "", `web:user-${ada.name}`]);
});

test("a group under legal hold stays, with what came from it", async () => {
  const h = await world();
  await h.say(zelda, h.inGroup);
  await h.db.update(conversations).set({ legalHold: true });
  const held = async () => [await h.db.select().from(messages).orderBy(messages.seq), (await h.rows()).inbox];
  const before = await held();
  expect((await h.erase({ subject: zelda.id, subjectChannel: "telegram" })).status).toBe(201);
  await h.pass();
  expect(await held()).toEqual(before);
  const [entry] = await h.db.select().from(auditLogs).where(eq(auditLogs.action, "erasure.complete"));
  expect(entry?.summary.held).toBe(1);
});
