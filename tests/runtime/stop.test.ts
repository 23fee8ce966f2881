import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../browser/server.ts";
import { done, say, startFakeProvider } from "../fake-provider.ts";
import { chat, dataDirectory, quickstart } from "./program.ts";

const model = "--model=openai-compatible:fake";

/** A server whose agent asks a provider that says `Hel`, waits for the gate, and says `lo`. */
async function halfway(environment: Record<string, string> = {}) {
  const gate = Promise.withResolvers<void>();
  const provider = await startFakeProvider({ stream: [say("Hel"), gate.promise, say("lo"), done()] });
  const server = await startServer({ OPENAI_COMPATIBLE_BASE_URL: provider.url, ...environment }, model);
  const response = await chat({ url: server.url, key: server.key, text: "Hi", stream: true });
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const readUntil = async (wanted: string) => {
    while (!text.includes(wanted)) {
      const { done: over, value } = await reader.read();
      if (over) break;
      text += value;
    }
    return text;
  };
  expect(await readUntil("Hel")).toContain("Hel");
  return { gate, server, readUntil };
}

test("SIGTERM: health says so, after the drain no new turn starts, the running one ends whole, then exit 0", async () => {
  const { gate, server, readUntil } = await halfway({ DRAIN_SECONDS: "1" });
  server.child.kill("SIGTERM");
  await server.printed(/"Stopping"/);
  await expect.poll(async () => (await fetch(`${server.url}/health`)).status).toBe(503);
  // Until the drain is over each is taken, and begins to answer.
  const more = { url: server.url, key: server.key, text: "More", stream: true };
  await expect.poll(async () => (await chat(more)).status).toBe(503);
  gate.resolve();
  expect(await readUntil("[DONE]")).toMatch(/"lo"[\s\S]*\[DONE\]/);
  expect(await server.ended).toBe(0);
});

test("a turn that outlasts the grace is ended cleanly: no reset, exit 0", async () => {
  const { server, readUntil } = await halfway({ SHUTDOWN_GRACE_SECONDS: "0" });
  server.child.kill("SIGTERM");
  expect(await readUntil("never")).toMatch(/"error"/);
  expect(await server.ended).toBe(0);
});

test("a terminal that is closed stops it like SIGTERM", async () => {
  const { gate, server, readUntil } = await halfway();
  server.child.kill("SIGHUP");
  await server.printed(/"Stopping"/);
  gate.resolve();
  expect(await readUntil("[DONE]")).toMatch(/"lo"[\s\S]*\[DONE\]/);
  expect(await server.ended).toBe(0);
});

test("a server that drains takes new turns and tells balancers; a second signal ends it at once", async () => {
  const { server, gate } = await halfway({ DRAIN_SECONDS: "3600", SHUTDOWN_GRACE_SECONDS: "0" });
  gate.resolve();
  expect((await fetch(`${server.url}/ready`)).status).toBe(200);
  server.child.kill("SIGTERM");
  await server.printed(/"Stopping"/);
  for (const path of ["/health", "/ready"]) {
    const answer = await fetch(`${server.url}${path}`);
    expect([answer.status, answer.headers.get("Connection")]).toEqual([503, "close"]);
  }
  expect((await chat({ url: server.url, key: server.key, text: "More" })).status).toBe(200);
  const nagging = setInterval(() => server.child.kill("SIGINT"), 100);
  onTestFinished(() => clearInterval(nagging));
  expect(await server.ended).toBe(1);
  expect(server.stderr()).toContain("at once");
});

test("after kill -9 the conversation goes on where it stood", async () => {
  const provider = await startFakeProvider({ stream: [say("Noted."), done()] });
  const environment = { DATA_DIR: dataDirectory(), OPENAI_COMPATIBLE_BASE_URL: provider.url };
  const first = await quickstart(environment, model);
  expect((await chat({ url: first.url, key: first.key, text: "My name is Ada", chatId: "c1" })).status).toBe(200);
  first.child.kill("SIGKILL");
  await first.ended;

  const second = await quickstart(environment, model);
  expect((await chat({ url: second.url, key: first.key, text: "Who am I?", chatId: "c1" })).status).toBe(200);
  expect(provider.exchanges.at(-1)?.body.messages).toEqual(
    expect.arrayContaining([
      { role: "user", content: "My name is Ada" },
      { role: "assistant", content: "Noted." },
      { role: "user", content: "Who am I?" },
    ]),
  );
});
