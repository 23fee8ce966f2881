import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../src/adapters/node/server.ts";
import { explain } from "../../src/cli/explain.ts";
import { type Outlet, offerText } from "../../src/core/text/outlet.ts";
import { knowNoNames } from "../unknown-names.ts";

async function listening(host = "127.0.0.1") {
  const listener = await listen(host, 0);
  onTestFinished(() => listener.close());
  return { listener, url: `http://${host}:${listener.port}` };
}

test("a request that comes before the app waits for it, and the app learns the client's address", async () => {
  const { listener, url } = await listening();
  const early = fetch(`${url}/early`);
  await new Promise((resolve) => setImmediate(resolve));
  listener.serve({
    fetch: async (request, { remoteAddress }) => Response.json({ path: new URL(request.url).pathname, remoteAddress }),
  });
  expect(await (await early).json()).toEqual({ path: "/early", remoteAddress: "127.0.0.1" });
});

test.runIf(process.platform === "linux")(
  "a busy process takes several new connections in a round of its event loop",
  async () => {
    const { listener } = await listening();
    const port = listener.port.toString(16).toUpperCase().padStart(4, "0");
    // Node accepts one from each listening socket in a round.
    const listeningSockets = readFileSync("/proc/net/tcp", "utf8").match(new RegExp(`:${port} 00000000:0000 0A `, "g"));
    expect(listeningSockets).toHaveLength(64);
  },
);

test("a second server on a port that a first one shares with itself is refused", async () => {
  const { listener } = await listening();
  await expect(listen("127.0.0.1", listener.port)).rejects.toMatchObject({ code: "EADDRINUSE" });
});

test("an IPv4 client of a socket for both families keeps its plain address", async () => {
  const { listener } = await listening("::");
  listener.serve({ fetch: (_, { remoteAddress }) => new Response(remoteAddress) });
  expect(await (await fetch(`http://127.0.0.1:${listener.port}`)).text()).toBe("127.0.0.1");
});

/** Serves a response that offers its text; its body says something else. */
async function offering() {
  const { listener, url } = await listening();
  const taken = Promise.withResolvers<Outlet>();
  const [pull, cancel] = [vi.fn(), vi.fn()];
  listener.serve({
    fetch() {
      const response = new Response("the body", { status: 201, headers: { "X-Own": "1" } });
      offerText(response, (outlet) => {
        taken.resolve(outlet);
        return { pull, cancel };
      });
      return response;
    },
  });
  const response = await fetch(url);
  return { response, outlet: await taken.promise, pull, cancel };
}

test("an offered text goes out in place of the body, its head at once", async () => {
  const { response, outlet, pull } = await offering();
  expect(response.status).toBe(201);
  expect(response.headers.get("X-Own")).toBe("1");
  const reader = response.body?.getReader();
  for (const text of ["one", "zwölf"]) {
    outlet.enqueue(text);
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(text);
  }
  expect(pull).toHaveBeenCalledTimes(3);
  outlet.close();
  expect(await reader?.read()).toEqual({ done: true, value: undefined });
});

test("no more of an offered text is asked for than its client takes, and none once it is gone", async () => {
  const { response, outlet, pull, cancel } = await offering();
  const portion = "x".repeat(1024 * 1024);
  let enqueued = 0;
  for (let asked = 0; asked < pull.mock.calls.length && enqueued < 100; enqueued += 1) {
    asked = pull.mock.calls.length;
    outlet.enqueue(portion);
  }
  expect(enqueued).toBeLessThan(20);
  const before = pull.mock.calls.length;
  const reader = response.body?.getReader();
  for (let read = 0; read < enqueued * portion.length; ) read += (await reader?.read())?.value?.length ?? 0;
  await vi.waitFor(() => expect(pull).toHaveBeenCalledTimes(before + 1));
  expect(cancel).not.toHaveBeenCalled();
  await reader?.cancel();
  await vi.waitFor(() => expect(cancel).toHaveBeenCalled());
  outlet.enqueue("late");
});

test("an offered text that is cut off breaks the connection", async () => {
  const { response, outlet } = await offering();
  outlet.enqueue("one");
  outlet.error(new Error("The client reads too slowly"));
  await expect(response.text()).rejects.toThrow();
});

/** The first line of the answer to these bytes, and the rest of it. */
async function answerTo(port: number, request: string): Promise<[string, string]> {
  const socket = connect(port, "127.0.0.1");
  socket.write(request);
  let answer = "";
  for await (const chunk of socket) answer += chunk;
  const [first = "", ...rest] = answer.split("\r\n");
  return [first, rest.join("\r\n")];
}

test("a request of HTTP/1.0 needs no Host, one of HTTP/1.1 does, and none may have two", async () => {
  const { listener } = await listening();
  listener.serve({ fetch: (request) => new Response(new URL(request.url).pathname) });
  const ask = (lines: string) => answerTo(listener.port, `${lines}\r\nConnection: close\r\n\r\n`);
  for (const method of ["GET", "OPTIONS"]) {
    const [status, rest] = await ask(`${method} /health HTTP/1.0`);
    expect([method, status]).toEqual([method, "HTTP/1.1 200 OK"]);
    expect(rest).toMatch(/\r\n\r\n\/health$/);
  }
  expect((await ask("GET /health HTTP/1.1"))[0]).toBe("HTTP/1.1 400 Bad Request");
  expect((await ask("GET /health HTTP/1.1\r\nHost: a"))[0]).toBe("HTTP/1.1 200 OK");
  for (const second of ["Host: b", "host: a", "HOST:"]) {
    const [status, rest] = await ask(`GET /health HTTP/1.1\r\nHost: a\r\n${second}`);
    expect([second, status]).toEqual([second, "HTTP/1.1 400 Bad Request"]);
    expect(rest).not.toContain("/health");
  }
});

test("a server that drains closes each connection after its next response", async () => {
  const { listener } = await listening();
  const waiting = Promise.withResolvers<void>();
  listener.serve({
    async fetch(request) {
      if (request.url.endsWith("/slow")) await waiting.promise;
      return new Response("ok");
    },
  });
  const ask = (path: string) => answerTo(listener.port, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  const slow = ask("/slow");
  listener.drain();
  waiting.resolve();
  for (const answer of [slow, ask("/new")]) {
    const [status, rest] = await answer;
    expect([status, rest.match(/^Connection: .*$/im)?.[0]]).toEqual(["HTTP/1.1 200 OK", "Connection: close"]);
  }
});

test("closing ends an open stream too", async () => {
  const { listener, url } = await listening();
  listener.serve({ fetch: () => new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array([46])) })) });
  const reader = (await fetch(url)).body?.getReader();
  await reader?.read();
  await listener.close();
  await expect(reader?.read()).rejects.toThrow();
});

test("a taken port, a forbidden one and a foreign host: one sentence each that says what to do", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void blocker.close());
  await new Promise((resolve) => blocker.once("listening", resolve));
  const address = blocker.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const reason = (attempt: Promise<unknown>) => attempt.then(() => [], explain);

  expect(await reason(listen("127.0.0.1", port))).toEqual([
    `Port ${port} on 127.0.0.1 is taken; stop what uses it or choose another, for example PORT=${port + 1}`,
  ]);
  expect(await reason(listen("203.0.113.7", 0))).toEqual([
    "HOST 203.0.113.7 is not an address of this machine; try HOST=127.0.0.1",
  ]);
  knowNoNames();
  expect(await reason(listen("no-such-host.invalid", 0))).toEqual([
    "HOST no-such-host.invalid is not known here; set HOST to an address of this machine",
  ]);
});
