import { eq } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { streamChunks, turns } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { plainText } from "../../plain-text.ts";
import { finish, gate, type ScriptItem, scriptedModel, textDelta } from "../../scripted-model.ts";
import { type ChatHarness, chatHarness, eventually, readEvents, readUntil, type SseEvent } from "./chat.ts";

/** A turn that says "0 " and then `said(index)` after each gate, and another replica whose clients follow the turn. */
async function elsewhere(gates: number, said = (index: number) => `${index + 1} `) {
  const held = Array.from({ length: gates }, () => gate());
  const more = held.flatMap(({ promise }, index): ScriptItem[] => [promise, textDelta(said(index))]);
  const h = await chatHarness(scriptedModel(() => ({ parts: [textDelta("0 "), ...more, finish()] })));
  const { text } = await readUntil(await h.native("Count", { chat_id: "c" }), (sofar) => sofar.includes("0 "));
  const messageId = /^id: ([^:]+):/m.exec(text)?.[1] ?? "";
  const other = createEngine(h.services);
  const ask = async (after = "") => {
    const headers = { Authorization: `Bearer ${h.agent.key}`, "Last-Event-ID": after };
    const path = `/api/instances/${h.agent.slug}/chat/stream/${messageId}`;
    return other.app.request(path, { headers }, { remoteAddress: "192.0.2.1" });
  };
  const follow = async (after = "") => readEvents(await ask(after));
  const chunks = () => h.services.database.db.select().from(streamChunks).orderBy(streamChunks.first);
  /** Counts the reads of events from now on. */
  const reads = () => {
    const query = vi.spyOn(h.services.database, "query");
    return () =>
      query.mock.calls.filter(([statement]) => plainText(statement).includes("as length from stream_chunks")).length;
  };
  return { ...h, held, messageId, ask, follow, chunks, reads };
}

const textOf = (events: readonly SseEvent[]) => events.map(({ data }) => data.text ?? "").join("");

/** Moves the clock on and runs the ticks until `over`. */
async function pass(h: ChatHarness, over: () => Promise<unknown>): Promise<void> {
  await eventually(async () => {
    // In small steps, since the database needs real time.
    await h.clock.advance(100);
    await h.engine.closeRevoked();
    return over();
  });
}

async function passUntil<T>(h: ChatHarness, work: Promise<T>): Promise<T> {
  let done = false;
  work.then(
    () => {
      done = true;
    },
    () => {},
  );
  await pass(h, async () => done);
  return work;
}

describe("a turn that another replica runs", () => {
  test("is handed over without a gap when a batch can't be written at first", async () => {
    const h = await elsewhere(3);
    const { database } = h.services;
    const query = database.query.bind(database);
    let batches = 0;
    const failing: typeof query = async (text, parameters) => {
      if (plainText(text).includes("insert into stream_chunks (turn_id, first, events) select")) {
        batches += 1;
        if (batches === 2) throw new Error("The database is away");
      }
      return query(text, parameters);
    };
    Object.assign(database, { query: failing });
    const events = h.follow();
    await pass(h, async () => (await h.chunks()).length === 2);
    h.held[0]?.open();
    await pass(h, async () => batches === 2);
    for (const { open } of h.held) open();
    expect(textOf(await passUntil(h, events))).toBe("0 1 2 3 ");
  });

  test("is received whole however long it takes, and forgotten after that", async () => {
    const h = await elsewhere(1);
    const { database } = h.services;
    const first = h.follow();
    await pass(h, async () => (await h.chunks()).length === 2);
    await database.query("update stream_chunks set created_at = now() - interval '1 hour'", []);
    await h.engine.tick();
    h.held[0]?.open();
    expect(textOf(await passUntil(h, first))).toBe("0 1 ");
    expect(textOf(await passUntil(h, h.follow()))).toBe("0 1 ");
    await database.query("update stream_chunks set created_at = now() - interval '1 hour'", []);
    await database.db.update(turns).set({ finishedAt: new Date(0) });
    await h.engine.tick();
    expect(await h.chunks()).toEqual([]);
  });

  test("is received whole though it is longer than the unread limit; a client that reads nothing is disconnected", async () => {
    const h = await elsewhere(8, () => "x".repeat(300_000));
    const first = h.follow();
    await pass(h, async () => (await h.chunks()).length === 2);
    for (const [index, { open }] of h.held.entries()) {
      open();
      await pass(h, async () => (await h.chunks()).length >= index + 3);
    }
    const all = await passUntil(h, first);
    expect(textOf(all)).toHaveLength("0 ".length + 8 * 300_000);
    expect(await passUntil(h, h.follow())).toEqual(all);
    expect(await passUntil(h, h.follow(all[5]?.id))).toEqual(all.slice(6));

    const read = h.reads();
    const { body } = await h.ask();
    await vi.waitFor(() => expect(read()).toBe(1));
    await h.chunks();
    for (let second = 0; second < 100; second += 1) await h.clock.advance(1_000);
    expect(read()).toBe(1);
    await expect(body?.getReader().read()).rejects.toThrow("The client reads too slowly");
  });

  test("is read once for all its followers here, and a later one gets everything", async () => {
    const h = await elsewhere(1);
    const early = [h.follow(), h.follow(), h.follow()];
    await pass(h, async () => (await h.chunks()).length === 2);
    await pass(h, async () => true);
    const read = h.reads();
    for (let n = 0; n < 10; n += 1) {
      await h.clock.advance(100);
      // This query ends after all queries before it.
      await h.chunks();
    }
    expect(read()).toBeLessThanOrEqual(11);
    const late = h.follow();
    h.held[0]?.open();
    for (const events of await passUntil(h, Promise.all([...early, late]))) expect(textOf(events)).toBe("0 1 ");
  });

  test("is handed over to its end by a server that stops", async () => {
    const h = await elsewhere(1);
    const events = h.follow();
    await pass(h, async () => (await h.chunks()).length === 2);
    await h.engine.stop(0);
    expect((await h.chunks()).at(-1)?.events).toBe("");
    expect((await passUntil(h, events)).slice(-2).map(({ event, data }) => [event, data.message])).toEqual([
      ["error", "The server is stopping"],
      ["done", undefined],
    ]);
  });

  test("is received whole though it was silent for long, and its end is stored after the turn is over", async () => {
    const h = await elsewhere(1);
    const { database } = h.services;
    const query = database.query.bind(database);
    const stored = gate();
    const late: typeof query = async (text, parameters) => {
      if (plainText(text).includes("insert into stream_chunks (turn_id, first, events) select")) await stored.promise;
      return query(text, parameters);
    };
    const events = h.follow();
    await pass(h, async () => (await h.chunks()).length === 2);
    Object.assign(database, { query: late });
    for (let tenth = 0; tenth < 80; tenth += 1) await pass(h, async () => true);
    h.held[0]?.open();
    await eventually(async () => (await h.stored()).turns.every(({ status }) => status !== "running"));
    const read = h.reads();
    await pass(h, async () => read() > 1);
    stored.open();
    expect(textOf(await passUntil(h, events))).toBe("0 1 ");
  });

  test("is had whole after a crash of the database emptied the table, by those who followed it and who come anew", async () => {
    const h = await elsewhere(3);
    const crash = () => h.services.database.db.delete(streamChunks);
    const early = h.follow();
    await pass(h, async () => (await h.chunks()).length === 2);
    h.held[0]?.open();
    await pass(h, async () => (await h.chunks()).length === 3);
    await crash();
    // The turn says nothing meanwhile.
    const late = h.follow();
    await pass(h, async () => (await h.chunks()).some(({ events }) => events.includes('"1 "')));
    await crash();
    for (const { open } of h.held) open();
    for (const events of await passUntil(h, Promise.all([early, late]))) {
      expect(textOf(events)).toBe("0 1 2 3 ");
      expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => `${h.messageId}:${index + 1}`));
    }
    await crash();
    expect(textOf(await passUntil(h, h.follow()))).toBe("0 1 2 3 ");
  });

  test("is had whole by a client that missed the crash, since another one asked the owner first", async () => {
    const h = await elsewhere(2);
    const early = h.follow();
    await pass(h, async () => (await h.chunks()).length === 2);
    h.held[0]?.open();
    await pass(h, async () => (await h.chunks()).length === 3);
    await h.services.database.transaction(async (tx) => {
      await tx.delete(streamChunks);
      await tx.insert(streamChunks).values({ turnId: h.messageId, first: 0, events: "" });
    });
    await pass(h, async () => (await h.chunks()).length === 2);
    h.held[1]?.open();
    expect(textOf(await passUntil(h, early))).toBe("0 1 2 ");
  });

  test("says that events are lost which its owner does not write again, and is had from a later one on", async () => {
    const h = await elsewhere(1);
    const first = h.follow();
    await pass(h, async () => (await h.chunks()).length === 2);
    h.held[0]?.open();
    const all = await passUntil(h, first);
    await h.services.database.db.delete(streamChunks).where(eq(streamChunks.first, 1));
    expect((await passUntil(h, h.follow())).map(({ event, data }) => [event, data.code])).toEqual([
      ["error", "resume_lost"],
      ["done", undefined],
    ]);
    const next = (await h.chunks())[1]?.first ?? 0;
    expect(await passUntil(h, h.follow(`${h.messageId}:${next - 1}`))).toEqual(all.slice(next - 1));
  });

  test("tells a client to resume while the database is away, and does not let it take the turn for failed", async () => {
    const h = await elsewhere(1);
    const { database } = h.services;
    const { query } = database;
    const events = h.follow();
    await pass(h, async () => (await h.chunks()).length === 2);
    database.query = async () => {
      throw new EngineError("unavailable", "The database is unavailable");
    };
    let told: SseEvent[] | undefined;
    void events.then((read) => {
      told = read;
    });
    await eventually(async () => {
      await h.clock.advance(100);
      return told;
    });
    expect(told?.slice(-2).map(({ event, data }) => [event, data.code])).toEqual([
      ["error", "unavailable"],
      ["done", undefined],
    ]);
    const refused = await h.ask();
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "1"]);
    database.query = query;
    h.held[0]?.open();
    expect(textOf(await passUntil(h, h.follow()))).toBe("0 1 ");
  });

  test("has no events ahead of its end", async () => {
    const h = await elsewhere(1);
    h.held[0]?.open();
    await eventually(async () => (await h.stored()).turns.every(({ status }) => status === "done"));
    const all = await passUntil(h, h.follow());
    expect(await passUntil(h, h.follow(all.at(-1)?.id))).toEqual([]);
    const ahead = await passUntil(h, h.follow(`${h.messageId}:${all.length + 1}`));
    expect(ahead.map(({ event, data }) => [event, data.message ?? data.messageId])).toEqual([
      ["error", "Last-Event-ID is ahead of the turn"],
      ["done", null],
    ]);
  });
});
