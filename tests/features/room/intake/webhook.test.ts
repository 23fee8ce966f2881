import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newWebhookToken } from "../../../../src/core/credentials/event-source.ts";
import { EngineError } from "../../../../src/core/errors.ts";
import { agents, auditLogs, eventSources } from "../../../../src/db/schema.ts";
import { sending, sourceOf } from "../events.ts";

const stored = [200, { ok: true }];
const failed = (error: string) => [200, { ok: false, error }];
const form = { "Content-Type": "application/x-www-form-urlencoded" };
const limit = 65_536;

/** A body of this many bytes, in chunks, that counts the bytes read of it. */
function chunked(bytes: number, chunk = 16_384) {
  const told = { read: 0 };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (told.read >= bytes) return controller.close();
        const size = Math.min(chunk, bytes - told.read);
        told.read += size;
        controller.enqueue(new Uint8Array(size).fill(0x20));
      },
    },
    { highWaterMark: 0 },
  );
  return { told, body };
}

describe("an event", () => {
  test("is stored with its job before it is answered", async () => {
    const h = await sending();
    expect(await h.post('{"a":[1,"ü"]}')).toEqual(stored);
    const [row] = await h.rows();
    const { id: sourceId, agentId, organizationId } = h.source;
    const receivedAt = new Date(h.clock.now());
    expect(row).toMatchObject({ sourceId, agentId, organizationId, receivedAt, payload: { a: [1, "ü"] } });
    expect(row).toMatchObject({ outcome: "pending", reason: null });
    expect(await h.work()).toMatchObject([{ key: row?.id, payload: { eventId: row?.id }, organizationId }]);
  });

  test("may be any JSON, or a form", async () => {
    const h = await sending();
    for (const body of ["null", "0", '"17"', "[]", "false", '{"__proto__":{"a":1}}']) {
      expect([body, ...(await h.post(body, { "Content-Type": "Application/JSON ; charset=utf-8" }))]).toEqual([
        body,
        ...stored,
      ]);
    }
    expect(await h.post("a=1&a=2&b=%00x&__proto__=y&constructor=z", form)).toEqual(stored);
    const payloads = (await h.rows()).map(({ payload }) => JSON.stringify(payload));
    expect(payloads.slice(0, 6)).toEqual(["null", "0", '"17"', "[]", "false", '{"__proto__":{"a":1}}']);
    expect(JSON.parse(payloads[6] ?? "")).toEqual(
      JSON.parse('{"a":["1","2"],"b":"x","__proto__":"y","constructor":"z"}'),
    );
  });

  test("of a source that is off, or for an inactive agent, is answered the same and not matched", async () => {
    const h = await sending();
    await h.db.update(eventSources).set({ enabled: false }).where(eq(eventSources.id, h.source.id));
    expect(await h.post("1")).toEqual(stored);
    expect(await h.post("{")).toEqual(failed("invalid payload"));
    await h.db.update(eventSources).set({ enabled: true });
    await h.db.update(agents).set({ active: false });
    expect(await h.post("2")).toEqual(stored);
    expect(await h.rows()).toMatchObject([
      { outcome: "source-disabled", payload: 1, reason: "The event source is turned off" },
      { outcome: "invalid-payload", payload: "{", reason: "invalid payload" },
      { outcome: "room-off", payload: 2, reason: "The agent is inactive" },
    ]);
    expect(await h.work()).toEqual([]);
  });

  test("is not answered with ok when it could not be stored", async () => {
    const h = await sending();
    const { database } = h.services;
    const { transaction } = database;
    database.transaction = async () => {
      throw new EngineError("unavailable", "The database is unavailable");
    };
    expect((await h.post("1"))[0]).toBe(503);
    database.transaction = transaction;
    expect(await h.rows()).toEqual([]);
    expect(await h.post("1")).toEqual(stored);
  });

  test("of a source that is deleted at that moment is that of an unknown one", async () => {
    const h = await sending();
    const { database } = h.services;
    const { transaction } = database;
    database.transaction = async (work) => {
      await h.db.delete(eventSources);
      return transaction(work);
    };
    expect(await h.post("1")).toEqual(failed("unknown token"));
    expect(await h.work()).toEqual([]);
  });
});

describe("an unreadable body", () => {
  test("is reported, and is in the ledger with its text", async () => {
    const h = await sending();
    const deep = "[".repeat(60_000);
    const calls: [string | Uint8Array<ArrayBuffer>, Record<string, string>, string, unknown][] = [
      ["", {}, "invalid payload", ""],
      ["{", {}, "invalid payload", "{"],
      ["a\u0000b", {}, "invalid payload", "ab"],
      [deep, {}, "invalid payload", deep],
      [new Uint8Array([0x22, 0xff, 0x00]), {}, "invalid payload", '"\ufffd'],
      ["<a/>", { "Content-Type": "text/xml" }, "unsupported content type", "<a/>"],
      ["{}", { "Content-Type": "" }, "unsupported content type", "{}"],
      ["{}", { "Content-Type": "application/json, application/json" }, "unsupported content type", "{}"],
      ["{}", { "Content-Type": "application/jsonp" }, "unsupported content type", "{}"],
      [
        new Uint8Array([0x89, 0x00, 0xff]),
        { "Content-Type": "image/png" },
        "unsupported content type",
        "[binary, 3 bytes, image/png]",
      ],
      ["--x\r\n", { "Content-Type": "multipart/form-data; boundary=x" }, "unsupported content type", "--x\r\n"],
    ];
    for (const [body, headers, error] of calls) expect(await h.post(body, headers)).toEqual(failed(error));
    const rows = await h.rows();
    expect(rows.map(({ outcome, reason, payload }) => [outcome, reason, payload])).toEqual(
      calls.map(([, , error, payload]) => ["invalid-payload", error, payload]),
    );
    expect(await h.work()).toEqual([]);
    expect(h.logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  test("is not buffered when it is too large, declared or found so, and is read to its end so that its sender gets the answer", async () => {
    const h = await sending();
    const tooLarge = failed("payload too large");
    const exact = JSON.stringify("x".repeat(limit - 2));
    expect(await h.post(exact)).toEqual(stored);
    expect(await h.post(`${exact} `)).toEqual(tooLarge);
    const told = chunked(10_000_000);
    expect(await h.post(told.body, { "Content-Length": "10000000" })).toEqual(tooLarge);
    const found = chunked(10_000_000);
    expect(await h.post(found.body)).toEqual(tooLarge);
    // A false length does not help.
    const lied = chunked(10_000_000);
    expect(await h.post(lied.body, { "Content-Length": "5" })).toEqual(tooLarge);
    expect([told, found, lied].map(({ told: { read } }) => read)).toEqual([10_000_000, 10_000_000, 10_000_000]);
    const endless = chunked(Number.POSITIVE_INFINITY);
    expect(await h.post(endless.body)).toEqual(tooLarge);
    expect(endless.told.read).toBeLessThanOrEqual(limit + 16 * 1024 * 1024 + 2 * 16_384);
    const rows = (await h.rows()).slice(1);
    expect(rows).toHaveLength(5);
    for (const { outcome, reason, payload } of rows) {
      expect([outcome, reason, payload]).toEqual(["invalid-payload", "payload too large", null]);
    }
  });
});

describe("a body that comes with Content-Encoding", () => {
  const zipped = (text: string) => gzipSync(text);
  const gzip = { "Content-Encoding": "gzip" };
  const payloads = async (h: Awaited<ReturnType<typeof sending>>) => (await h.rows()).map(({ payload }) => payload);

  test("is decoded from gzip", async () => {
    const h = await sending();
    expect(await h.post(zipped('{"a":"ü"}'), gzip)).toEqual(stored);
    expect(await h.post(zipped("a=1"), { ...form, "Content-Encoding": "X-GZIP" })).toEqual(stored);
    expect(await h.post('{"plain":true}', { "Content-Encoding": "identity" })).toEqual(stored);
    expect(await payloads(h)).toEqual([{ a: "ü" }, { a: "1" }, { plain: true }]);
  });

  test("has at most 65,536 bytes as it was sent, and as many decoded", async () => {
    const h = await sending();
    const exact = JSON.stringify("x".repeat(limit - 2));
    expect(await h.post(zipped(exact), gzip)).toEqual(stored);
    expect(await h.post(zipped(`${exact} `), gzip)).toEqual(failed("payload too large"));
    expect(await h.post(zipped("[".repeat(60_000_000)), gzip)).toEqual(failed("payload too large"));
    expect(await h.post(zipped("[".repeat(1_000_000)), gzip, newWebhookToken())).toEqual(failed("payload too large"));
    const noise = randomBytes(limit);
    expect(zipped(noise.toString("latin1")).byteLength).toBeGreaterThan(limit);
    expect(await h.post(zipped(noise.toString("latin1")), gzip)).toEqual(failed("payload too large"));
  });

  test("is refused when it is broken or has another encoding, after token and key", async () => {
    const h = await sending({ authKey: "right-key-of-sender" });
    const proof = { Authorization: "Bearer right-key-of-sender" };
    const whole = zipped('{"a":1}');
    const broken = [
      whole.subarray(0, -9),
      Buffer.concat([whole, Buffer.from("more")]),
      Buffer.from("{}"),
      Buffer.alloc(0),
    ];
    for (const body of broken) expect(await h.post(body, { ...gzip, ...proof })).toEqual(failed("invalid payload"));
    for (const coding of ["br", "gzip, gzip", "deflate"]) {
      const headers = { "Content-Encoding": coding };
      expect(await h.post(whole, { ...headers, ...proof })).toEqual(failed("unsupported content type"));
      expect((await h.post(whole, headers))[0]).toBe(401);
    }
    expect(await h.post("{}", gzip, newWebhookToken())).toEqual(failed("unknown token"));
    expect((await h.rows()).map(({ reason }) => reason)).toEqual([
      ...broken.map(() => "invalid payload"),
      ...Array.from({ length: 3 }, () => "unsupported content type"),
    ]);
    expect(await payloads(h)).toEqual((await h.rows()).map(() => null));
    expect(h.logs.join()).not.toContain('"level":"error"');
  });
});

describe("a token", () => {
  test("that is not one asks no database, and its call leaves nothing", async () => {
    const h = await sending();
    const { token } = h.source;
    const odd = [
      ...[
        "x",
        "..",
        "%2e%2e%2f",
        "%2E%2E%2Fapi%2Fme",
        "%00",
        `${token}%00`,
        `${token}x`,
        token.slice(1),
        "%F0%9F",
        "%zz",
      ],
      ...[token.toUpperCase(), `%20${token}`, "telegram", "x".repeat(5_000), "'%20or%201=1--", "%ED%A0%80"],
    ];
    for (const one of odd) {
      const response = await h.request(`/webhooks/${one}`, { method: "POST", json: {} });
      const answer = response.status === 200 ? await response.json() : "elsewhere";
      // Dots are resolved before a server sees them.
      expect([one, answer]).toEqual([
        one,
        /^(\.|%2e){2}$/i.test(one) ? "elsewhere" : { ok: false, error: "unknown token" },
      ]);
    }
    const large = await h.post("x".repeat(limit + 1), {}, "x");
    expect(large).toEqual(failed("payload too large"));
    expect(await h.rows()).toEqual([]);
    expect(h.logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  test("is none where it is the name of a webhook of managed builds", async () => {
    const h = await sending();
    for (const method of ["POST", "GET", "PUT"]) {
      const response = await h.request("/webhooks/hubspot", { method });
      expect([method, response.status]).toEqual([method, 404]);
      expect(await response.json()).toMatchObject({ message: "No such route: /webhooks/hubspot" });
    }
    expect(await h.post("{}", {}, "hubspot2")).toEqual(failed("unknown token"));
  });

  test("finds its own source only, and the newest token alone", async () => {
    const h = await sending();
    const other = await sourceOf(h, h.agent.slug);
    expect(await h.post("1", {}, other.token)).toEqual(stored);
    expect(await h.post("2", {}, newWebhookToken())).toEqual(failed("unknown token"));
    expect((await h.rows()).map(({ sourceId, payload }) => [sourceId, payload])).toEqual([[other.id, 1]]);
  });

  test("is in no line of the log, no error and no entry, wherever somebody tries it", async () => {
    const authKey = "shared-with-the-sender";
    const h = await sending({ authKey });
    const { token } = h.source;
    const paths = [
      ...[`/webhooks/${token}`, `/webhooks/${token}/`, `/webhooks/${token}/x`, `//webhooks//${token}`],
      ...[
        `/agents/webhooks/${token}`,
        `/Webhooks/${token}`,
        `/webhooks/telegram/${token}`,
        `/webhooks/slack/x/${token}`,
      ],
      ...[`/webhooks/twilio/${token}/whatsapp`, `/webhooks/x?token=${token}`, `/%77ebhooks/${token}`],
    ];
    for (const path of paths) {
      for (const method of ["POST", "GET", "HEAD", "PUT", "OPTIONS"]) {
        await h.request(path, { method, headers: { Authorization: "Bearer wrong-key-of-somebody" } });
      }
    }
    await h.post("{", { Authorization: `Bearer ${authKey}` });
    await h.post("{}", { Authorization: `Bearer ${authKey}` });
    const written = [...h.logs, JSON.stringify(await h.rows()), JSON.stringify(await h.db.select().from(auditLogs))];
    for (const secret of [token, authKey, "wrong-key-of-somebody"]) {
      expect(written.filter((line) => line.includes(secret))).toEqual([]);
    }
    expect(h.logs.filter((line) => line.includes("/webhooks/…")).length).toBeGreaterThan(5);
    await h.request("/webhooks/telegram/support", { method: "POST" });
    expect(h.logs.at(-1)).toContain('"/webhooks/telegram/support"');
  });

  test("answers POST alone", async () => {
    const h = await sending();
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const response = await h.request(`/webhooks/${h.source.token}`, { method });
      expect([method, response.status, response.headers.get("Allow")]).toEqual([method, 405, "POST"]);
      expect(await response.text()).not.toContain(h.source.token);
    }
    expect(await h.rows()).toEqual([]);
  });
});

describe("the key of a source", () => {
  const authKey = "shared-with-the-sender";

  test("must be in each call, in the one form; a call without it is only logged", async () => {
    const h = await sending({ authKey });
    const wrong = [
      ...["", authKey, `Bearer ${authKey}x`, `Bearer ${authKey.slice(1)}`, `Bearer ${authKey.toUpperCase()}`],
      ...[`Basic ${btoa(`x:${authKey}`)}`, `Bearer`, `Bearer ${authKey}, Bearer ${authKey}`, "Bearer undefined"],
    ];
    for (const Authorization of wrong) {
      const [status, body] = await h.post("{}", Authorization === "" ? {} : { Authorization });
      expect([Authorization, status, body.statusCode]).toEqual([Authorization, 401, 401]);
    }
    expect(await h.rows()).toEqual([]);
    const warned = h.logs.map((line) => JSON.parse(line)).filter(({ level }) => level === "warn");
    expect(warned).toHaveLength(wrong.length);
    expect(warned[0]).toMatchObject({ source: h.source.id, agent: h.agent.slug });
    for (const scheme of ["Bearer", "bearer", "BEARER  "]) {
      expect(await h.post("{}", { Authorization: `${scheme} ${authKey}` })).toEqual(stored);
    }
    expect(await h.rows()).toHaveLength(3);
  });

  test("is looked at behind size and token, and before the payload", async () => {
    const h = await sending({ authKey });
    const proof = { Authorization: `Bearer ${authKey}` };
    const large = "x".repeat(limit + 1);
    expect(await h.post(large)).toEqual(failed("payload too large"));
    expect(await h.rows()).toEqual([]);
    expect(await h.post(large, proof)).toEqual(failed("payload too large"));
    expect(await h.post("{", {}, newWebhookToken())).toEqual(failed("unknown token"));
    expect((await h.post("{", { "Content-Type": "text/xml" }))[0]).toBe(401);
    expect(await h.post("{", proof)).toEqual(failed("invalid payload"));
    expect((await h.rows()).map(({ reason }) => reason)).toEqual(["payload too large", "invalid payload"]);
  });

  test("is not asked for where the source has none", async () => {
    const h = await sending();
    expect(await h.post("{}", { Authorization: "Basic x" })).toEqual(stored);
  });
});

describe("on a socket", () => {
  interface Posted {
    status: number | undefined;
    body: unknown;
  }

  const post = (url: string, body: string, headers: Record<string, string | string[]> = {}) =>
    new Promise<Posted>((resolve, reject) => {
      const all = { "Content-Type": "application/json", ...headers };
      const outgoing = httpRequest(url, { method: "POST", headers: all });
      outgoing.on("response", async (answer: IncomingMessage) => {
        let text = "";
        for await (const chunk of answer) text += chunk;
        resolve({ status: answer.statusCode, body: JSON.parse(text) });
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });

  test("a sender of too much gets the answer, whether it declares its length or not", async () => {
    const h = await sending();
    const url = `${await h.listen()}/webhooks/${h.source.token}`;
    const answer = { status: 200, body: { ok: false, error: "payload too large" } };
    for (const size of [limit + 1, 1_000_000, 10_000_000]) {
      const body = "[".repeat(size);
      expect(await post(url, body, { "Content-Length": String(size) })).toEqual(answer);
      expect(await post(url, body, { "Transfer-Encoding": "chunked" })).toEqual(answer);
    }
    expect(await post(url, "[]", { "Transfer-Encoding": "chunked" })).toEqual({ status: 200, body: { ok: true } });
    expect(await h.rows()).toHaveLength(7);
  });

  test("a body that never ends, or breaks off, leaves nothing", async () => {
    const h = await sending();
    const { hostname, port } = new URL(await h.listen());
    const socket = connect(Number(port), hostname);
    const head = [`POST /webhooks/${h.source.token} HTTP/1.1`, "Host: x", "Content-Type: application/json"];
    socket.write([...head, "Expect: 100-continue", "Content-Length: 100", "", '{"a":1}'].join("\r\n"));
    await once(socket, "data");
    socket.destroy();
    await expect.poll(() => h.logs.join()).toContain('"status":400');
    expect(await h.rows()).toEqual([]);
    expect(h.logs.join()).not.toContain('"level":"error"');
    expect(h.logs.join()).not.toContain(h.source.token);
  });

  test("a key that comes twice is no key", async () => {
    const h = await sending({ authKey: "right-key-of-sender" });
    const url = `${await h.listen()}/webhooks/${h.source.token}`;
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const keys = ["Authorization: Bearer wrong", "Authorization: Bearer right-key-of-sender"];
    const head = [`POST /webhooks/${h.source.token} HTTP/1.1`, "Host: x", "Content-Type: application/json", ...keys];
    socket.write([...head, "Content-Length: 2", "", "{}"].join("\r\n"));
    const [data] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    expect(data.toString()).toMatch(/^HTTP\/1\.1 401 /);
    expect(await h.rows()).toEqual([]);
  });
});
