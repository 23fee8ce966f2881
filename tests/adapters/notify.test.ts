import { connect, createServer, type Socket } from "node:net";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { fromPayload, toPayloads } from "../../src/adapters/notify/messages.ts";
import { postgresNotify } from "../../src/adapters/notify/postgres.ts";
import type { Clock, Notify } from "../../src/core/ports.ts";
import type { Database } from "../../src/db/client.ts";
import { TestClock } from "../clock.ts";
import { collectLog } from "../embedded.ts";
import { freshDatabase, poolOn } from "../fresh-database.ts";
import { startPostgres } from "../real-postgres.ts";

describe("payloads", () => {
  const bytes = (text: string) => Buffer.byteLength(text);
  const batch = (...keys: string[]) => ({
    from: "me",
    gap: false,
    entries: keys.map((key) => ["work-due", key] as const),
  });

  test("are short enough for PostgreSQL, and hold every entry in order", () => {
    const sent = batch(...Array.from({ length: 3000 }, (_, index) => `${index} "ü😀\\`), "x".repeat(7_400), "last");
    const payloads = toPayloads(sent);
    expect(Math.max(...payloads.map(bytes))).toBeLessThan(7_700);
    expect(payloads.length).toBeLessThan(30);
    expect(payloads.flatMap((payload) => fromPayload(payload)?.entries ?? [])).toEqual(sent.entries);
  });

  test("hold a gap for an entry that is too long for any", () => {
    expect(toPayloads(batch("ü".repeat(4_000))).map(fromPayload)).toEqual([{ ...batch(), gap: true }]);
    const [first, second, ...more] = toPayloads(batch("a".repeat(7_000), "b".repeat(8_000), "c".repeat(7_000)));
    expect(fromPayload(first ?? "")).toEqual({ ...batch("a".repeat(7_000)), gap: true });
    expect(fromPayload(second ?? "")).toEqual(batch("c".repeat(7_000)));
    expect(more).toEqual([]);
  });

  test("pass whatever a key is made of", () => {
    const sent = batch("", "\0", "\ud800", '{},"', "line\nline");
    expect(toPayloads(sent).map(fromPayload)).toEqual([sent]);
    // PostgreSQL takes neither as it is.
    expect(toPayloads(sent).join()).not.toMatch(/[\0\ud800]/u);
  });

  test("of nothing are none, and those of others are passed over", () => {
    expect(toPayloads(batch())).toEqual([]);
    for (const other of ["", "hello", "null", '{"from":"x"}', '{"from":"x","gap":false,"entries":[["one"]]}']) {
      expect(fromPayload(other)).toBeNull();
    }
    expect(fromPayload('{"from":"x","gap":false,"entries":[],"later":1}')).toEqual({ ...batch(), from: "x" });
  });
});

/** Of this file alone, since its sessions are ended. */
const server = await startPostgres();
afterAll(() => server?.stop());

interface Place {
  /** Where a replica finds the database. */
  url: string;
  /** A way to it that the test leaves alone. */
  admin: Database;
}

async function place(): Promise<Place> {
  const url = await freshDatabase(server);
  return { url, admin: poolOn({ url }, { max: 2 }) };
}

interface Replica {
  notify: Notify;
  /** What it heard under `work-due`; `(gap)` for a gap. */
  heard: string[];
  /** Warnings and the like. */
  lines: string[];
}

/** The port as one process has it. It hears a gap as soon as it is connected. */
function replica(url: string, clock: Clock = systemClock, sendingTo = url): Replica {
  const database = poolOn({ url: sendingTo }, { max: 2, deadlineMs: 60_000, clock });
  const { log, lines } = collectLog();
  const notify = postgresNotify({ target: { url }, database, clock, log });
  const heard: string[] = [];
  notify.listen(
    "work-due",
    (key) => void heard.push(key),
    () => void heard.push("(gap)"),
  );
  onTestFinished(async () => {
    await Promise.all([notify.close(), clock instanceof TestClock ? clock.advance(1_000) : undefined]);
  });
  return { notify, heard, lines };
}

async function connected(...replicas: Replica[]): Promise<void> {
  for (const { heard, notify } of replicas) {
    await expect.poll(() => [heard, notify.isHearing()]).toEqual([["(gap)"], true]);
    heard.length = 0;
  }
}

async function pair(url: string): Promise<[Replica, Replica]> {
  const [one, two] = [replica(url), replica(url)];
  await connected(one, two);
  return [one, two];
}

const listening = "from pg_stat_activity where datname = current_database() and query like 'listen %'";

/** What came before this is there for certain: messages of one sender keep their order. */
async function afterAllOf(sender: Replica, hearer: Replica): Promise<string[]> {
  sender.notify.publish("work-due", "(end)");
  await expect.poll(() => hearer.heard.at(-1)).toBe("(end)");
  return hearer.heard.slice(0, -1);
}

describe.skipIf(!server)("two replicas", () => {
  test("hear each other, and each hears itself once and at once", async () => {
    const { url } = await place();
    const [one, two] = await pair(url);
    one.notify.publish("work-due", "a");
    expect(one.heard).toEqual(["a"]);
    two.notify.publish("agent-changed", "other topic");
    two.notify.publish("work-due", "b");
    await expect.poll(() => two.heard).toEqual(["b", "a"]);
    expect(await afterAllOf(two, one)).toEqual(["a", "b"]);
    expect([...one.lines, ...two.lines]).toEqual([]);
  });

  test("send what comes together in one statement, equal messages once", async () => {
    const { url } = await place();
    const sent: string[][] = [];
    const clock = new TestClock();
    const database = poolOn({ url }, { max: 1, deadlineMs: 5_000 });
    const watched: Database["query"] = (text, parameters) => {
      const payloads = String(parameters[1]).match(/"(?:[^"\\]|\\.)*"/g) ?? [];
      if (!payloads.join().includes("[]")) sent.push(payloads);
      return database.query(text, parameters);
    };
    const { log } = collectLog();
    const notify = postgresNotify({ target: { url }, database: { query: watched }, clock, log });
    const two = replica(url);
    await connected(two);
    for (const key of ["a", "b", "a", "b", "a"]) notify.publish("work-due", key);
    await clock.advance(19);
    expect(sent).toEqual([]);
    await clock.advance(1);
    await expect.poll(() => two.heard).toEqual(["a", "b"]);
    expect(sent.map(({ length }) => length)).toEqual([1]);

    for (let index = 0; index < 300; index += 1) notify.publish("work-due", `${index} ${"x".repeat(100)}`);
    await clock.advance(20);
    await expect.poll(() => two.heard).toHaveLength(302);
    expect(sent.map(({ length }) => length)).toEqual([1, 5]);
    notify.publish("work-due", "at the end");
    await notify.close();
    await expect.poll(() => two.heard.at(-1)).toBe("at the end");
  });

  test("take keys of any length and letters; one that fits in no message is a gap", async () => {
    const { url } = await place();
    const [one, two] = await pair(url);
    const keys = ["", "\0 \ud800", "ü".repeat(3_500), "x".repeat(7_400)];
    for (const key of keys) one.notify.publish("work-due", key);
    expect(await afterAllOf(one, two)).toEqual(keys);
    two.heard.length = 0;
    one.notify.publish("work-due", "x".repeat(8_000));
    expect(await afterAllOf(one, two)).toEqual(["(gap)"]);
  });

  test("are told of a gap when one of them had too much to tell", async () => {
    const { url } = await place();
    const [one, two] = await pair(url);
    for (let index = 0; index <= 10_000; index += 1) one.notify.publish("work-due", String(index));
    expect(await afterAllOf(one, two)).toEqual(["(gap)", "10000"]);
  });

  test("pass over what others send on the channel", async () => {
    const { url, admin } = await place();
    const [one, two] = await pair(url);
    await admin.query("select pg_notify('agent_engine', $1), pg_notify('agent_engine', '')", ["hello"]);
    expect(await afterAllOf(one, two)).toEqual([]);
    expect(two.lines).toEqual([]);
  });
});

describe.skipIf(!server)("a lost connection", () => {
  test("comes back, is a gap, and is logged once", async () => {
    const { url, admin } = await place();
    const [one, two] = await pair(url);
    await admin.query(`select pg_terminate_backend(pid, 5000) ${listening}`, []);
    await expect.poll(() => [one.heard, two.heard]).toEqual([["(gap)"], ["(gap)"]]);
    one.heard.length = 0;
    expect(await afterAllOf(two, one)).toEqual([]);
    const lines = [
      "Other replicas can't be heard: what they change is noticed later",
      "Other replicas are heard again",
    ];
    expect(two.lines).toEqual(lines);
  });

  test("while the database is away, messages stay here, the others learn of a gap, and it is logged once", async () => {
    const { url } = await place();
    const proxy = await tcpProxy(url);
    const clock = new TestClock();
    proxy.refuse();
    const one = replica(proxy.url, clock);
    const two = replica(url);
    await connected(two);
    await expect.poll(() => one.lines).toHaveLength(1);
    one.notify.publish("work-due", "a");
    expect(one.heard).toEqual(["a"]);
    await clock.advance(20);
    await expect.poll(() => one.lines).toHaveLength(2);

    proxy.pass();
    // The next try to listen, and what it could not send.
    await clock.advance(1_000);
    await expect.poll(() => two.heard).toEqual(["(gap)"]);
    await expect.poll(() => one.heard).toEqual(["a", "(gap)"]);
    // Others may hear of it before the sender has its own answer.
    await expect
      .poll(() => [...one.lines].sort())
      .toEqual([
        "Other replicas are heard again",
        "Other replicas are told of changes again",
        "Other replicas can't be heard: what they change is noticed later",
        "Other replicas can't be told of changes: they notice them later",
      ]);
  });

  test("one that hangs is found by the next sign of life", async () => {
    const { url } = await place();
    const proxy = await tcpProxy(url);
    const clock = new TestClock();
    const one = replica(proxy.url, clock);
    await connected(one);
    proxy.hang();
    // A message can't be sent either.
    await clock.advance(10_000);
    expect(one.lines).toEqual([]);
    proxy.pass();
    await clock.advance(5_000);
    await expect.poll(() => clock.waiting(5_000)).toBe(true);
    await clock.advance(5_100);
    await expect.poll(() => one.heard).toEqual(["(gap)"]);
    await expect.poll(() => one.lines).toHaveLength(2);
  });

  test("one that hears no messages, as through a transaction pooler, is said once and tried again", async () => {
    const { url } = await place();
    const { url: elsewhere } = await place();
    const clock = new TestClock();
    const one = replica(elsewhere, clock, url);
    for (const tries of [1, 2]) {
      await expect.poll(() => one.heard).toHaveLength(tries);
      await expect.poll(() => clock.waiting(5_000)).toBe(true);
      await clock.advance(5_000);
      expect(one.lines).toEqual(["Other replicas can't be heard: what they change is noticed later"]);
      expect(one.notify.isHearing()).toBe(false);
      await clock.advance(200);
    }
  });

  test("one whose own messages can't be sent is kept", async () => {
    const { url } = await place();
    const clock = new TestClock();
    const { log, lines } = collectLog();
    let sent = 0;
    const query = async () => {
      sent += 1;
      throw new Error("No connection is free");
    };
    const notify = postgresNotify({ target: { url }, database: { query }, clock, log });
    onTestFinished(notify.close);
    await expect.poll(() => sent).toBe(1);
    await clock.advance(20_000);
    expect([sent, lines]).toEqual([5, []]);
  });

  test("a server that hangs holds up neither publishing nor the end, which takes a second at most", async () => {
    const { url } = await place();
    const proxy = await tcpProxy(url);
    const clock = new TestClock();
    const one = replica(proxy.url, clock);
    await connected(one);
    proxy.hang();
    one.notify.publish("work-due", "a");
    await clock.advance(20);
    one.notify.publish("work-due", "b");
    expect(one.heard).toEqual(["a", "b"]);
    let over = false;
    const closed = one.notify.close().then(() => {
      over = true;
    });
    await clock.advance(999);
    expect(over).toBe(false);
    await clock.advance(1);
    await closed;
    await failsToSend(one, proxy);
  });

  test("a server that hangs from the start holds up nothing either", async () => {
    const { url } = await place();
    const proxy = await tcpProxy(url);
    proxy.hang();
    const clock = new TestClock();
    const one = replica(proxy.url, clock);
    one.notify.publish("work-due", "a");
    await expect.poll(() => proxy.opened).toBe(1);
    await clock.advance(5_000);
    const lost = "Other replicas can't be heard: what they change is noticed later";
    await expect.poll(() => one.lines).toContain(lost);
    await failsToSend(one, proxy);
  });

  test("after the end nothing is sent and nothing is left", async () => {
    const { url, admin } = await place();
    const [one, two] = await pair(url);
    one.notify.publish("work-due", "last");
    await one.notify.close();
    await one.notify.close();
    one.notify.publish("work-due", "too late");
    expect(one.heard).toEqual(["last", "too late"]);
    await expect.poll(() => two.heard).toEqual(["last"]);
    await expect.poll(() => admin.query(`select pid ${listening}`, [])).toHaveLength(1);
    two.notify.publish("work-due", "unheard");
    await expect.poll(() => two.heard).toEqual(["last", "unheard"]);
    expect(one.heard).toEqual(["last", "too late"]);
  });
});

/** Ends what hangs, for which the pool would wait when it closes. */
async function failsToSend({ lines }: Replica, proxy: { refuse(): void }): Promise<void> {
  proxy.refuse();
  await expect.poll(() => lines).toContain("Other replicas can't be told of changes: they notice them later");
}

/** A way to the server that the test can break: from then on its connections are refused, or hang. */
async function tcpProxy(target: string) {
  const { port } = new URL(target);
  const sockets = new Set<Socket>();
  let mode: "pass" | "refuse" | "hang" = "pass";
  const keep = (socket: Socket) => {
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
    sockets.add(socket);
  };
  const proxy = {
    url: "",
    opened: 0,
    refused: 0,
    pass() {
      mode = "pass";
    },
    refuse() {
      mode = "refuse";
      proxy.end();
    },
    /** Also the connections that are open now, and for good. */
    hang() {
      mode = "hang";
      for (const socket of sockets) socket.unpipe().pause();
    },
    end() {
      for (const socket of sockets) socket.destroy();
    },
  };
  const listener = createServer((socket) => {
    proxy.opened += 1;
    keep(socket);
    if (mode === "refuse") {
      proxy.refused += 1;
      return void socket.destroy();
    }
    if (mode === "hang") return;
    const upstream = connect(Number(port), "127.0.0.1");
    keep(upstream);
    upstream.once("close", () => socket.destroy());
    socket.once("close", () => upstream.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    proxy.end();
    listener.close();
  });
  const address = listener.address();
  proxy.url = target.replace(/:\d+\//, `:${typeof address === "object" ? address?.port : 0}/`);
  return proxy;
}
