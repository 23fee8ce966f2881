import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { dataDirectory, run, start } from "./program.ts";

async function freePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return String(typeof address === "object" && address ? address.port : 0);
}

/** The first answer of a starting server. */
async function firstHealth(url: string): Promise<Response> {
  for (;;) {
    const response = await fetch(`${url}/health`).catch(() => null);
    if (response) return response;
  }
}

test("the server is healthy before the embedded database is open, and requests wait for it", async () => {
  const PORT = await freePort();
  const server = start([], { DATA_DIR: dataDirectory(), PORT });
  const url = `http://127.0.0.1:${PORT}`;
  const health = await firstHealth(url);
  expect(health.status).toBe(200);
  expect(await health.json()).toMatchObject({ status: "ok", database: "opening" });
  expect(server.stderr()).not.toContain("Listening");
  // It reads the database to find out whether there is an owner.
  expect((await fetch(`${url}/api/me`)).status).toBe(401);
  await server.printed(/"Listening"/);
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ database: "ready" });
});

test("a start that fails ends at once with its reason, for every waiter", async () => {
  const DATA_DIR = dataDirectory();
  const PORT = await freePort();
  await run(["migrate"], { DATA_DIR });
  const holder = start([], { DATA_DIR });
  await holder.printed(/"Listening"/);
  const second = start([], { DATA_DIR, PORT });
  expect(await second.ended).toBe(1);
  expect(second.stderr()).toMatch(/^agent-engine: DATA_DIR .* is in use by another agent-engine/);
});
