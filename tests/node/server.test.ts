import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../src/adapters/node/server.ts";
import { explain } from "../../src/cli/explain.ts";
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
    // Node takes one from each listening socket in a round.
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
