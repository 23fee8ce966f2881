import { connect, createServer } from "node:net";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import type { Database } from "../../src/db/client.ts";
import { createEngine, type Engine } from "../../src/engine.ts";
import { chatHarness, eventually, readEvents, readUntil, type SseEvent } from "../features/chat/chat.ts";
import { freshDatabase, poolOn } from "../fresh-database.ts";
import { harness } from "../harness.ts";
import { startThrowaway } from "../real-postgres.ts";
import { randomTimes } from "../rounds.ts";
import { finish, gate, reply, scriptedModel, textDelta } from "../scripted-model.ts";
import { bindWithFallback } from "./fallback.ts";
import { bundled, crashDirectory, victimsConnections } from "./kill.ts";
import { answeringModel, answerTo, isWhole, nameOf, type Question, requestOf, tokens } from "./questions.ts";

const server = await startThrowaway();
afterAll(() => server?.stop());

const bundle = bundled("victim");

/** When a process kills itself: at the n-th such moment, or this many milliseconds after its start. */
type Moment = readonly [
  moment: "opened" | "audited" | "streaming" | "answering" | "committing" | "sent" | "committed" | "after",
  ordinal: number,
];

const randomly = (count: number) => randomTimes(count, { min: 1, max: 400 }).map((ms): Moment => ["after", ms]);

interface Agent {
  slug: string;
  key: string;
}

/** Runs a victim to its end; answers the answers it received. */
async function kill(place: string, { slug, key }: Agent, name: string, [moment, ordinal]: Moment): Promise<string[]> {
  const { ended, stdout, stderr } = await bundle.run(place, slug, key, name, moment, String(ordinal));
  expect([ended, stderr]).toEqual(["SIGKILL", ""]);
  return stdout.split("\n").filter((line) => line !== "");
}

/** An agent for which a turn writes every kind of row: state, tools, hooks, a budget, background work. */
async function prepareAgent(database: Database) {
  const model = answeringModel();
  const egress = {
    request: async ({ url }: { url: string }) => ({ status: 200, headers: {}, body: "looked up", url }),
  };
  const h = await harness({ database, model, egress, trustProxy: 1 });
  const models = { provider: "openai", model: "gpt-x", fastModel: "gpt-y" };
  const { slug, key, headers } = await h.agent({ ...models, monthlyTokenBudget: 50_000_000 });
  const own = `/api/instances/${slug}`;
  const actionConfig = { toolName: "httpRequest", args: { url: "https://hooks.example/" } };
  const made = [
    h.request(`${own}/tools`, { method: "PATCH", headers, json: { enabled: ["setState"] } }),
    ...["message_received", "response_generated"].map((event) =>
      h.request(`${own}/hooks`, { method: "POST", headers, json: { event, actionConfig } }),
    ),
  ];
  for (const response of await Promise.all(made)) expect(response.ok).toBe(true);
  return { ...h, agent: { slug, key } };
}

interface TurnRow {
  id: string;
  status: string;
  ref: string;
  ticket: number;
  messages: { id: string; seq: number; role: string; content: string }[];
  hooks: number;
  calls: number;
  tokens: number;
}

const readTurns = (database: Database) =>
  database.query<TurnRow>(
    `select t.id, t.status, c.ref, t.ticket, t.prompt_tokens + t.completion_tokens as tokens,
      (select coalesce(json_agg(json_build_object('id', id, 'seq', seq, 'role', role, 'content', content) order by seq), '[]')
       from messages where turn_id = t.id) as messages,
      (select count(*)::int from hook_executions where turn_id = t.id) as hooks,
      (select count(*)::int from tool_calls where turn_id = t.id) as calls
     from turns t join conversations c on c.id = t.conversation_id order by c.ref, t.ticket`,
    [],
  );

interface ConversationRow {
  ref: string;
  open: number;
  last: number;
  count: number;
  tokens: number;
  state: Record<string, unknown>;
  seqs: number[];
  /** Whether its title and its follow-up after resting are due. */
  due: [title: boolean, followUp: boolean];
  /** Whether a job gives titles to its agent's conversations. */
  titled: boolean;
}

const readConversations = (database: Database) =>
  database.query<ConversationRow>(
    `select c.ref, c.open_turns as open, c.last_seq as last, c.message_count as count, c.total_tokens::int as tokens, c.state,
      (select coalesce(json_agg(seq order by seq), '[]') from messages where conversation_id = c.id) as seqs,
      json_build_array(title_due_at is not null, follow_up_due_at is not null) as due,
      exists (select from jobs where kind = 'titleConversations' and key = c.agent_id::text) as titled
     from conversations c order by c.ref`,
    [],
  );

/** Each turn is stored whole or not at all. Answers the answered questions. */
async function expectWholeOrAbsent(database: Database): Promise<string[]> {
  const turns = await readTurns(database);
  const answered: string[] = [];
  for (const { id, status, messages, hooks, calls, tokens: taken } of turns) {
    if (status !== "done") {
      expect({ messages, hooks, calls, taken }).toEqual({ messages: [], hooks: 0, calls: 0, taken: 0 });
      continue;
    }
    const [asked, answer] = messages;
    const name = asked?.content ?? "";
    expect(asked).toMatchObject({ role: "user" });
    expect(answer).toEqual({ id, seq: (asked?.seq ?? 0) + 1, role: "assistant", content: answerTo(name) });
    expect([messages.length, hooks, calls, taken]).toEqual([2, 2, 1, tokens.prompt + tokens.completion]);
    answered.push(name);
  }
  // No question is answered twice.
  expect(new Set(answered).size).toBe(answered.length);
  for (const { ref, titled, ...found } of await readConversations(database)) {
    const own = turns.filter((turn) => turn.ref === ref);
    const done = own.filter(({ status }) => status === "done");
    expect(found).toEqual({
      open: own.filter(({ status }) => status === "queued" || status === "running").length,
      last: done.length * 2,
      count: done.length * 2,
      tokens: done.length * (tokens.prompt + tokens.completion),
      state: Object.fromEntries(done.map(({ messages }) => [messages[0]?.content ?? "", true])),
      seqs: done.flatMap(({ messages }) => messages.map(({ seq }) => seq)),
      due: [done.length > 0, done.length > 1],
    });
    if (found.due[0]) expect(titled).toBe(true);
    expect(found.seqs).toEqual(found.seqs.map((_seq, index) => index + 1));
  }
  return answered;
}

/** No tokens are held any more; those held for a lost turn count as used. */
async function expectSettled(database: Database): Promise<void> {
  const months = await database.query<{ month: string; held: number; used: number; taken: number }>(
    `select month::text, b.reserved::int as held, used::int,
      (select sum(case status when 'lost' then t.reserved else prompt_tokens + completion_tokens end)::int
       from turns t where t.budget_month = b.month) as taken
     from budget_periods b`,
    [],
  );
  for (const { held } of months) expect(held).toBe(0);
  // The tests' clock has a month of its own, which is left out here.
  const [victims] = months.filter(({ month }) => !month.startsWith("2026-01"));
  expect(victims?.used).toBe(victims?.taken);
}

const statuses = async (database: Database) => new Set((await readTurns(database)).map(({ status }) => status));

/** The recovery by the process after the victims. `told` are the questions they reported as answered. */
async function expectRecovered(engine: Engine, database: Database, agent: Agent, told: readonly string[]) {
  const answered = await expectWholeOrAbsent(database);
  expect(answered).toEqual(expect.arrayContaining([...told]));
  // There was unfinished work.
  expect([...(await statuses(database))]).toEqual(expect.arrayContaining(["done", "running"]));

  // Their leases are over. By the tests' clock their background work is not due.
  await database.query(
    "update turns set lease_until = now() - interval '1 second' where status in ('queued', 'running')",
    [],
  );
  await engine.tick();
  expect(await expectWholeOrAbsent(database)).toEqual(answered);
  expect(await statuses(database)).toEqual(new Set(["done", "lost"]));
  await expectSettled(database);

  for (const question of await lastQuestions(database)) {
    const [path, init] = requestOf(question, agent);
    const response = await engine.app.request(path, init, { remoteAddress: "192.0.2.1" });
    const known = answered.includes(nameOf(question));
    expect([response.status, response.headers.get("Idempotent-Replayed")]).toEqual([200, known ? "true" : null]);
    expect(isWhole(await response.text())).toBe(true);
    if (!known) answered.push(nameOf(question));
  }
  expect((await expectWholeOrAbsent(database)).toSorted()).toEqual(answered.toSorted());
  await expectSettled(database);
}

/** The last questions of each conversation that can have been asked: some were answered, some lost, some never sent. */
async function lastQuestions(database: Database): Promise<Question[]> {
  const conversations = await readConversations(database);
  return conversations.flatMap(({ ref, count }) => {
    const chat = ref.slice(ref.lastIndexOf("api-") + 4);
    const answered = count / 2;
    return [answered - 1, answered, answered + 1, answered + 2]
      .filter((number) => number > 0)
      .map((number) => ({ chat, number }));
  });
}

test.skipIf(!server)(
  "PostgreSQL: of a process that is killed each turn is there whole, or not at all",
  async () => {
    const url = await freshDatabase(server);
    const database = poolOn({ url });
    const { agent, services } = await prepareAgent(database);
    const moments: Moment[] = [
      ...([
        ["opened", 2],
        ["streaming", 3],
        ["answering", 4],
        ["committing", 1],
        ["committing", 5],
      ] as const),
      ...([
        ["sent", 1],
        ["sent", 6],
        ["committed", 2],
        ["committed", 7],
      ] as const),
      ...randomly(4),
    ];
    const told: string[] = [];
    const waiting = moments.map((moment, index) => ({ moment, name: `p${index}` }));
    const runner = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift())
        told.push(...(await kill(`${url}?application_name=victim`, agent, next.name, next.moment)));
    };
    const patience = { timeout: 60_000 };
    const seen = vi.waitFor(async () => expect(await victimsConnections(database)).toBeGreaterThan(0), patience);
    await Promise.all([runner(), runner(), runner(), seen]);
    await vi.waitFor(async () => expect(await victimsConnections(database)).toBe(0), patience);
    await expectRecovered(createEngine(services), database, agent, told);
  },
  180_000,
);

/** A way to the server on which the next opening of a turn is cut behind its commit: the answer to it is lost. */
async function deafWay(url: string) {
  let isDeaf = false;
  const way = createServer((socket) => {
    const upstream = connect(Number(new URL(url).port), "127.0.0.1");
    for (const end of [socket, upstream]) end.on("error", () => {});
    socket.once("close", () => upstream.destroy());
    upstream.once("close", () => socket.destroy());
    let opens = false;
    socket.on("data", (bytes) => {
      if (isDeaf && bytes.includes('insert into "turns"')) {
        isDeaf = false;
        opens = true;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      // The end of a statement that answers one row.
      if (opens && bytes.includes("SELECT 1\0")) socket.destroy();
      else socket.write(bytes);
    });
  });
  await new Promise<void>((resolve) => way.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void way.close());
  const address = way.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const loseNext = () => {
    isDeaf = true;
  };
  return { url: url.replace(/:\d+\//, `:${port}/`), loseNext };
}

test.skipIf(!server)(
  "PostgreSQL: a turn whose opening is committed though its connection is cut blocks nothing",
  async () => {
    const way = await deafWay(await freshDatabase(server));
    // Unprepared, so that each statement is sent with its text.
    const database = poolOn({ url: way.url }, { prepare: false });
    const h = await chatHarness(
      scriptedModel(() => reply("ok")),
      {},
      { database },
    );
    const headers = { "Idempotency-Key": "one" };
    for (const chat of ["c", "c"]) {
      way.loseNext();
      const lost = await h.complete("q", { chat_id: chat }, { headers });
      expect([lost.status, lost.headers.get("Retry-After")]).toEqual([503, "1"]);
      await eventually(async () => (await h.stored()).conversations[0]?.openTurns === 0);
    }
    expect((await h.complete("q", { chat_id: "c" }, { headers })).status).toBe(200);
    expect((await h.stored()).turns.map(({ status }) => status)).toEqual(["lost", "lost", "done"]);
  },
  60_000,
);

test.skipIf(!server)(
  "PostgreSQL: a stream that is followed on another replica is whole after the server crashed",
  async () => {
    // The server of tests loses what was committed within the last second.
    const database = poolOn({ url: `${await freshDatabase(server)}?synchronous_commit=on` });
    const said = gate();
    const model = scriptedModel(() => ({ parts: [textDelta("0 "), said.promise, textDelta("1 "), finish()] }));
    const h = await chatHarness(model, {}, { database });
    const { text } = await readUntil(await h.native("Count", { chat_id: "c" }), (sofar) => sofar.includes("0 "));
    const path = `/api/instances/${h.agent.slug}/chat/stream/${/^id: ([^:]+):/m.exec(text)?.[1]}`;
    const other = createEngine(h.services);
    const follow = async () => {
      const headers = { Authorization: `Bearer ${h.agent.key}` };
      return readEvents(await other.app.request(path, { headers }, { remoteAddress: "192.0.2.1" }));
    };
    /** Moves the clock on, and runs what a server does every 2 seconds. */
    const pass = (over: () => Promise<unknown>) =>
      eventually(async () => {
        await h.clock.advance(100);
        await h.engine.closeRevoked().catch(() => {});
        return over().catch(() => false);
      });
    const chunks = () => database.query("select first from stream_chunks", []);
    let early: SseEvent[] = [];
    void follow().then((events) => {
      early = events;
    });
    await pass(async () => (await chunks()).length === 2);
    // The death of one session makes the server end all sessions and recover, which empties UNLOGGED tables.
    const [session] = await database.query<{ pid: number }>("select pg_backend_pid() as pid", []);
    process.kill(session?.pid ?? 0, "SIGKILL");
    await pass(async () => early.length > 0);
    expect(early.slice(-2).map(({ event, data }) => [event, data.code])).toEqual([
      ["error", "unavailable"],
      ["done", undefined],
    ]);
    await pass(async () => (await chunks()).length === 0);
    let late: SseEvent[] = [];
    void follow().then((events) => {
      late = events;
    });
    await pass(async () => (await chunks()).length === 2);
    said.open();
    await pass(async () => late.length > 0);
    expect(late.map(({ data }) => data.text ?? "").join("")).toBe("0 1 ");
    expect(late.at(-1)?.event).toBe("done");
  },
  60_000,
);

test("the embedded database: of a process that is killed each turn is there whole, or not at all", async () => {
  const { directory, open } = crashDirectory();
  const before = await open();
  const h = await prepareAgent(before.database);
  const { agent, services } = h;
  await bindWithFallback(h, agent.slug);
  await before.close();
  // The fallback of the first victim is audited, and no other within the same minute.
  const moments: Moment[] = [["audited", 1], ["committing", 3], ["sent", 4], ...randomly(1)];
  const told: string[] = [];
  for (const [index, moment] of moments.entries()) told.push(...(await kill(directory, agent, `e${index}`, moment)));
  const { database, close } = await open();
  onTestFinished(close);
  await expectRecovered(createEngine({ ...services, database }), database, agent, told);
}, 180_000);
