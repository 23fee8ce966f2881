import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { auditLogs } from "../../src/db/schema.ts";
import { harness } from "../harness.ts";

const signIn = "/api/auth/sign-in/email";
const json = { "Content-Type": "application/json" };

describe("every answer", () => {
  test("carries a request id, a sane one of the caller's included, and the security headers", async () => {
    const h = await harness();
    for (const path of ["/health", "/api/me", "/nowhere", "/openapi.json", "/setup"]) {
      const { headers } = await h.request(path);
      expect(headers.get("X-Request-Id"), path).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(headers.get("Referrer-Policy")).toBe("no-referrer");
      expect(headers.get("X-Frame-Options")).toBe("DENY");
    }
    const idOf = async (id: string) =>
      (await h.request("/health", { headers: { "X-Request-Id": id } })).headers.get("X-Request-Id");
    expect(await idOf("trace:1.a_B-2")).toBe("trace:1.a_B-2");
    expect(await idOf("x".repeat(128))).toBe("x".repeat(128));
    for (const odd of ["x".repeat(129), "a b", "a,b", '{"a":1}', "é"]) expect(await idOf(odd)).not.toBe(odd);
  });

  test("refuses a path with . or .. as a segment, which would be read as another path", async () => {
    const h = await harness();
    const { hostname, port } = new URL(await h.listen());
    const statusOf = (path: string) =>
      new Promise<number>((resolve, reject) => {
        httpRequest({ hostname, port, path, method: "GET" }, (answer: IncomingMessage) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        })
          .on("error", reject)
          .end();
      });
    const refused = [
      "/x/../health",
      "/x/%2e%2E/health",
      "/x/.%2e/health",
      "/./health",
      "/x/..",
      "/x/..?a",
      "/x\\..\\health",
    ];
    for (const path of refused) expect([path, await statusOf(path)]).toEqual([path, 400]);
    for (const path of ["/health", "/health?a=/../", "/health?../"])
      expect([path, await statusOf(path)]).toEqual([path, 200]);
    for (const path of ["/...", "/a..b", "/.well-known"]) expect([path, await statusOf(path)]).toEqual([path, 404]);
  });

  test("carries them once on a socket: pages, refusals and streams", async () => {
    const h = await harness();
    const address = await h.listen();
    const owner = await h.as("owner");
    await h.request("/api/instances", {
      method: "POST",
      headers: owner,
      json: { slug: "a", provider: "demo", model: "demo" },
    });
    const chat = { method: "POST", headers: { ...owner, ...json } };
    const asked: [string, RequestInit, body?: string][] = [
      ["/setup", {}],
      ["/nowhere", {}],
      ["/api/me", {}],
      ["/api/instances/a/playground/stream", chat, JSON.stringify({ messages: [{ role: "user", content: "Hi" }] })],
    ];
    for (const [path, { method = "GET", headers = {} }, body] of asked) {
      const outgoing = httpRequest(address + path, { method, headers: headers as Record<string, string> });
      outgoing.end(body);
      const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
      answer.resume();
      const names = answer.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
      for (const name of ["x-request-id", "x-content-type-options", "referrer-policy", "x-frame-options"]) {
        expect([path, name, names.filter((other) => other === name).length]).toEqual([path, name, 1]);
      }
      if (body)
        expect([answer.statusCode, answer.headers["content-type"]]).toEqual([200, "text/event-stream; charset=utf-8"]);
    }
  });

  test("is logged in one line without query and headers", async () => {
    const h = await harness();
    await h.request("/api/me?token=hush", { headers: { Authorization: "Bearer hush", "X-Request-Id": "r1" } });
    await h.request(`/${"a".repeat(9)}${"/a".repeat(3000)}`);
    await h.request("/webhook/3fK9sLq2hushhush/as-it-was");
    await h.request("/health");
    const lines = h.logs.map((line) => JSON.parse(line)).filter(({ message }) => message === "Request");
    expect(lines.map(({ level, status }) => [level, status])).toEqual([
      ["info", 401],
      ["info", 404],
      ["info", 404],
      ["debug", 200],
    ]);
    expect(lines[0]).toMatchObject({ requestId: "r1", method: "GET", path: "/api/me", ms: 0 });
    expect(lines[1].path).toHaveLength(256);
    expect(lines[2].path).toBe("/webhook/3fK9…/as-it-was");
    expect(h.logs.join()).not.toContain("hush");
  });

  test("is logged and audited without the id of a conversation, which may be a phone number", async () => {
    const h = await harness();
    const viewer = await h.as("viewer");
    for (const path of ["support:whatsapp:+4915112345", "support%3Awhatsapp%3A%2B4915112345/messages"]) {
      await h.request(`/api/conversations/${path}`, { method: "DELETE", headers: viewer });
    }
    const lines = h.logs.map((line) => JSON.parse(line)).filter(({ message }) => message === "Request");
    expect(lines.map(({ path }) => path)).toEqual(["/api/conversations/…", "/api/conversations/…/messages"]);
    const entries = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.createdAt);
    expect(entries.map(({ target }) => target)).toEqual(["DELETE /api/conversations/…"]);
    expect(JSON.stringify([h.logs, entries])).not.toContain("4915112345");
  });

  test("has our format for the framework's refusals", async () => {
    const h = await harness();
    const cases: [string, RequestInit, number][] = [
      [signIn, { method: "POST", headers: json, body: "{" }, 400],
      [signIn, { method: "POST", headers: json, body: "" }, 400],
      [signIn, { method: "POST", headers: { "Content-Type": "text/plain" }, body: "{}" }, 415],
      [signIn, { method: "POST" }, 415],
      [signIn, { method: "GET" }, 405],
      ["/nowhere", {}, 404],
      ["/%", {}, 404],
      ["/%00", {}, 404],
    ];
    for (const [path, init, status] of cases) {
      const response = await h.request(path, init);
      expect(response.status, `${init.method} ${path}`).toBe(status);
      const body = await response.json();
      expect(body).toEqual({ ...body, statusCode: status, message: expect.any(String), error: expect.any(String) });
    }
  });
});

describe("the content type", () => {
  const body = JSON.stringify({ email: "a@example.com", password: "p" });
  const legal = [
    "application/json ; charset=utf-8",
    "application/json\t;\tcharset=utf-8",
    "Application/JSON;Charset=UTF-8",
    'application/json; charset="utf-8"',
    'application/json; note="a;b"',
    "application/json; my_note=a",
    "application/json;",
    "application/json; ;charset=utf-8",
    "application/vnd.api2+json",
  ];

  test("of JSON may have every legal spelling", async () => {
    const h = await harness();
    for (const type of ["application/json", ...legal]) {
      const response = await h.request(signIn, { method: "POST", headers: { "Content-Type": type }, body });
      expect([type, response.status]).toEqual([type, 401]);
    }
    for (const type of ["application/jsonp", "application/json-seq", "text/json", "application/ json", "json", ";"]) {
      const response = await h.request(signIn, { method: "POST", headers: { "Content-Type": type }, body });
      expect([type, response.status]).toEqual([type, 415]);
    }
  });

  test("of JSON may have every legal spelling on a socket, and the body arrives whole", async () => {
    const h = await harness();
    const address = await h.listen();
    const whole = JSON.stringify({ email: "a@example.com", password: "p", pad: "ü".repeat(20_000) });
    for (const type of legal.slice(0, 4)) {
      const init = { method: "POST", headers: { "Content-Type": type } };
      expect((await fetch(`${address}${signIn}`, { ...init, body: whole })).status).toBe(401);
      const broken = await fetch(`${address}${signIn}`, { ...init, body: whole.slice(0, -1) });
      expect([type, broken.status]).toEqual([type, 400]);
    }
  });
});

describe("a body", () => {
  const big = "x".repeat(10 * 1024 * 1024);

  test.each([
    ["of more than 1 MiB is refused", 1024 * 1024, "/api/instances", 201],
    ["of a stranger of more than 64 KiB is refused", 64 * 1024, signIn, 401],
  ])("%s, declared or not", async (_, limit, path, status) => {
    const h = await harness();
    const headers = { ...(await h.as("owner")), ...json };
    const send = async (body: string, more = {}) =>
      (await h.request(path, { method: "POST", headers: { ...headers, ...more }, body })).status;
    const exact = JSON.stringify({ slug: "a", email: "a@example.com", password: "p", pad: "" });
    const padded = exact.replace('"pad":""', `"pad":"${"x".repeat(limit - exact.length)}"`);
    expect(await send(padded)).toBe(status);
    expect(await send(`${padded} `)).toBe(413);
    expect(await send(big)).toBe(413);
    expect(await send("{}", { "Content-Length": String(big.length) })).toBe(413);
    expect(h.logs.join()).toContain('"status":413');
  });

  test("of an unauthenticated caller is dropped, and no more than 16 MiB of it are read", async () => {
    const h = await harness();
    const piece = new Uint8Array(256 * 1024);
    let pieces = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          pieces += 1;
          controller.enqueue(piece);
        },
      },
      { highWaterMark: 0 },
    );
    const response = await h.request("/api/instances", { method: "POST", body, duplex: "half" } as RequestInit);
    expect([response.status, response.headers.get("Connection")]).toEqual([401, "close"]);
    expect(pieces).toBe(65);
  });

  test("of a million brackets is no JSON object", async () => {
    const h = await harness();
    const headers = { ...(await h.as("owner")), ...json };
    for (const body of ["[".repeat(1_000_000), "[".repeat(500_000) + "]".repeat(500_000), '{"a":'.repeat(200_000)]) {
      const response = await h.request("/api/instances", { method: "POST", headers, body });
      expect(response.status).toBe(400);
    }
  });

  test("with many faults is answered with the first fifty", async () => {
    const h = await harness();
    const headers = await h.as("owner");
    const faults = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [index, []]));
    const response = await h.request("/api/me/onboarding", { method: "PATCH", headers, json: faults });
    const text = await response.text();
    expect(response.status).toBe(400);
    expect(JSON.parse(text).issues).toHaveLength(50);
    expect(text).toContain("and 850 more");
    expect(text.length).toBeLessThan(20_000);
  });

  test("that breaks off is no fault of the server's", async () => {
    const h = await harness();
    const address = new URL(await h.listen());
    const socket = connect(Number(address.port), address.hostname);
    const head = ["POST /api/auth/sign-in/email HTTP/1.1", "Host: x", "Content-Type: application/json"];
    socket.write([...head, "Expect: 100-continue", "Transfer-Encoding: chunked", "", "5", ""].join("\r\n"));
    await once(socket, "data");
    socket.destroy();
    await expect.poll(() => h.logs.join()).toContain('"status":400');
    expect(h.logs.join()).not.toContain('"level":"error"');
  });

  test("is bounded on a socket, with a length and in chunks, and the server continues", async () => {
    const h = await harness();
    const address = await h.listen();
    const post = (body: string, headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        const outgoing = httpRequest(`${address}${signIn}`, { method: "POST", headers: { ...json, ...headers } });
        outgoing.on("response", (incoming) => {
          incoming.resume();
          resolve(incoming.statusCode ?? 0);
        });
        outgoing.on("error", reject);
        outgoing.end(body);
      });
    const small = JSON.stringify({ email: "a@example.com", password: "p" });
    const chunked = { "Transfer-Encoding": "chunked" };
    expect(await post(small, chunked)).toBe(401);
    expect(await post(small, { "Content-Length": String(small.length) })).toBe(401);
    const refused = await Promise.allSettled([post(big, chunked), post(big, { "Content-Length": String(big.length) })]);
    // A client that is still sending may see the connection close before it reads the answer.
    for (const outcome of refused) if (outcome.status === "fulfilled") expect(outcome.value).toBe(413);
    expect(h.logs.filter((line) => line.includes('"status":413'))).toHaveLength(2);
    expect(await post(small, chunked)).toBe(401);
  });

  test("never makes a 500, whatever is in it", async () => {
    const h = await harness();
    const headers = { ...(await h.as("owner")), ...json };
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\u0000", "\ud800", "__proto__", "a@b.co"));
    const value = fc.oneof(fc.jsonValue(), text);
    const field = fc.constantFrom("token", "email", "password", "name", "organization", "expiresAt", "__proto__");
    const body = fc.oneof(fc.jsonValue(), fc.dictionary(fc.oneof(field, text), value));
    const paths = ["/api/setup", signIn, "/api/organizations/acme/management-keys"];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), body, async (path, content) => {
        const response = await h.request(path, { method: "POST", headers, body: JSON.stringify(content) ?? "" });
        expect([201, 400, 401, 409, 429]).toContain(response.status);
      }),
      { numRuns: 150 },
    );
    expect(h.logs.join()).not.toContain('"level":"error"');
  });
});
