import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { EngineError } from "../../src/core/errors.ts";
import { ByteBound } from "../../src/core/limits/byte-bound.ts";
import { harness } from "../harness.ts";

const json = { "Content-Type": "application/json" };
const mebibyte = 1024 * 1024;
const completions = "/v1/chat/completions";

/** Begins a request whose body is sent by `finish`. */
function begin(h: Awaited<ReturnType<typeof harness>>, path: string, headers: Record<string, string>, text = "") {
  const held = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        asked.resolve();
        await held.promise;
        if (text !== "") controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const init = { method: "POST", headers: { ...json, ...headers }, body, duplex: "half" };
  const answer = Promise.resolve(h.request(path, init as RequestInit));
  return { answer, asked: asked.promise, finish: held.resolve };
}

test("bodies count until they end, and large ones are refused beyond the bounds of one owner and of all", () => {
  const bodies = new ByteBound({ most: 300_000, mostOfOne: 200_000 }, () => new EngineError("unavailable", "full"));
  const [a, b] = [bodies.begin("a"), bodies.begin("a")];
  a.grow(150_000);
  expect(() => b.grow(100_000)).toThrow("full");
  b.end();
  const c = bodies.begin("b");
  c.grow(150_000);
  const d = bodies.begin("c");
  expect(() => d.grow(65_537)).toThrow("full");
  d.end();
  // A small one is accepted in any case.
  bodies.begin("c").grow(65_536);
  a.end();
  bodies.begin("c").grow(65_537);
});

test("bodies of unauthenticated callers share one bound; an authenticated caller's passes", async () => {
  const h = await harness({ chatRequestsPerMinute: 0 });
  const { slug, key } = await h.agent();
  const size = { "Content-Length": String(mebibyte) };
  const begun = Array.from({ length: 40 }, () => begin(h, completions, size));
  const refused = await Promise.all(
    begun.slice(32).map(async ({ asked, finish, answer }) => {
      await asked;
      finish();
      return answer;
    }),
  );
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 503));
  expect(refused[0]?.headers.get("Retry-After")).toBe("5");
  expect(await refused[0]?.json()).toMatchObject({ message: expect.stringMatching(/^Too many large bodies/) });

  const said = JSON.stringify({ messages: [{ role: "user", content: "Hello" }] });
  const small = { "Content-Length": String(said.length) };
  const chat = `/api/instances/${slug}/chat/stream`;
  const proven = begin(h, chat, { ...size, Authorization: `Bearer ${key}` }, said);
  const unproven = begin(h, completions, small, said);
  for (const { finish } of [proven, unproven]) finish();
  expect((await proven.answer).status).toBe(200);
  expect((await unproven.answer).status).toBe(400);

  for (const { finish } of begun) finish();
  for (const { answer } of begun.slice(0, 32)) expect((await answer).status).toBe(400);
  const later = begin(h, completions, size);
  later.finish();
  expect((await later.answer).status).toBe(400);
});

test("a refused body is read on for at most two seconds, and then the connection closes", async () => {
  const h = await harness();
  const late = begin(h, completions, { "Content-Length": String(2 * mebibyte) });
  await late.asked;
  await h.clock.advance(2_000);
  const response = await late.answer;
  expect([response.status, response.headers.get("Connection")]).toEqual([413, "close"]);
});

test("a refused body that ends in time leaves the connection as it is", async () => {
  const h = await harness();
  for (const [path, headers, status] of [
    [completions, { "Content-Length": String(2 * mebibyte) }, 413],
    ["/api/instances", { "Content-Length": "5" }, 401],
    ["/nowhere", {}, 404],
    [completions, { "Content-Type": "text/plain" }, 415],
  ] as const) {
    const refused = begin(h, path, headers, "12345");
    await refused.asked;
    refused.finish();
    const response = await refused.answer;
    expect([path, response.status, response.headers.get("Connection")]).toEqual([path, status, null]);
  }
});

test("a client that reads no answer before it sent its whole body reads the 413", async () => {
  const h = await harness();
  const { hostname, port } = new URL(await h.listen());
  for (const framing of ["Content-Length: 9000000", "Transfer-Encoding: chunked"]) {
    const socket = connect(Number(port), hostname);
    const errors: Error[] = [];
    socket.on("error", (error) => errors.push(error));
    socket.pause();
    const send = async (data: string | Uint8Array) => {
      if (!socket.write(data)) await once(socket, "drain");
    };
    await send(
      `POST ${completions} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n${framing}\r\n\r\n`,
    );
    const chunked = framing.startsWith("T");
    for (let sent = 0; sent < 9_000_000; sent += 90_000) {
      if (chunked) await send(`${(90_000).toString(16)}\r\n`);
      await send(new Uint8Array(90_000).fill(0x20));
      if (chunked) await send("\r\n");
    }
    if (chunked) await send("0\r\n\r\n");
    socket.resume();
    let answer = "";
    for await (const chunk of socket) answer += chunk;
    expect([framing, errors, answer.split("\r\n")[0]]).toEqual([framing, [], "HTTP/1.1 413 Payload Too Large"]);
  }
});
