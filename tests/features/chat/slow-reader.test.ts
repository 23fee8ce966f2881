import { connect } from "node:net";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Replay, Replays } from "../../../src/features/chat/replay/replay.ts";
import { followReplay } from "../../../src/features/chat/replay/stream.ts";
import { nothingStored } from "../../../src/turn/observers.ts";
import type { TurnOutcome } from "../../../src/turn/types.ts";
import { TestClock } from "../../clock.ts";
import { finish, scriptedModel, textDelta } from "../../scripted-model.ts";
import { startedTurn } from "../../turns.ts";
import { chatHarness, readEvents } from "./chat.ts";

const mebi = 1024 * 1024;

/** A replay whose turn the test drives. */
function turnOf(id: string, replays: Replays) {
  const leave = vi.fn();
  const listener = replays.started(startedTurn({ id, leave }));
  const replay = replays.get(id);
  if (!listener || !replay) throw new Error("The turn is not kept");
  const outcome = { status: "done", produced: true, replacedBy: null } as TurnOutcome;
  return {
    replay,
    leave,
    say: (text: string) => listener.event?.({ type: "text-delta", text }),
    end: () => listener.ended?.({ outcome, replyKept: true, stored: nothingStored }),
  };
}

/** Follows a replay for a client that reads nothing. */
function followUnread(replay: Replay, clock: TestClock) {
  const seat = { onRevoked: () => {}, leave: vi.fn() };
  const streaming = { clock, signal: new AbortController().signal, onEnd: seat.leave };
  return { response: followReplay(replay, 0, streaming, seat), seat };
}

test("20 MB for a client that reads nothing: it is disconnected at 1 MiB, and 4 Mi of the turn are kept", async () => {
  const clock = new TestClock();
  const { replay, say, leave, end } = turnOf("turn-1", new Replays(clock));
  const { response, seat } = followUnread(replay, clock);
  let said = 0;
  let leftAt = 0;
  let longest = 0;
  for (; said < 20 * mebi; said += 1000) {
    say("x".repeat(1000));
    if (leftAt === 0 && leave.mock.calls.length > 0) leftAt = said;
    longest = Math.max(longest, replay.length);
  }
  expect(leftAt).toBeGreaterThan(0.9 * mebi);
  expect(leftAt).toBeLessThan(1.1 * mebi);
  expect(longest).toBeGreaterThan(3.9 * mebi);
  expect(longest).toBeLessThanOrEqual(4 * mebi);
  expect(leave).toHaveBeenCalledOnce();
  expect(seat.leave).toHaveBeenCalledOnce();
  await expect(response.text()).rejects.toThrow("The client reads too slowly");

  end();
  const { last } = replay;
  // The last events remain under their own numbers; `behind` reports that the first ones are gone.
  expect(replay.behind(0)).toBeNull();
  expect(replay.behind(last - 2)).toEqual([
    expect.stringContaining(`id: turn-1:${last - 1}\nevent: text-delta\n`),
    expect.stringContaining(`id: turn-1:${last}\nevent: done\n`),
  ]);
});

test("one event may be longer than the buffer: it is sent, and then dropped", async () => {
  const { replay, say } = turnOf("turn-1", new Replays(new TestClock()));
  let got = 0;
  const write = (text: string) => {
    got += text.length;
  };
  const stop = replay.follow({ write, close: () => {} });
  say("x".repeat(5 * mebi));
  say("y");
  stop();
  expect(got).toBeGreaterThan(5 * mebi);
  expect(replay.length).toBeLessThan(1000);
  expect([replay.behind(0), replay.last]).toEqual([null, 2]);
});

test("of ended turns 64 Mi are kept together, the newest, and none for longer than a minute", async () => {
  const clock = new TestClock();
  const replays = new Replays(clock);
  const total = () => replays.ids().reduce((sum, id) => sum + (replays.get(id)?.length ?? 0), 0);
  const running = turnOf("running", replays);
  running.say("x".repeat(3 * mebi));
  for (let n = 0; n < 40; n += 1) {
    const { say, end } = turnOf(`ended-${n}`, replays);
    for (let part = 0; part < 6; part += 1) say("x".repeat(mebi / 2));
    end();
    await clock.advance(100);
    replays.sweep();
    expect(total() - (replays.get("running")?.length ?? 0)).toBeLessThanOrEqual(64 * mebi);
  }
  const ids = replays.ids();
  expect(ids).toEqual(["running", ...Array.from({ length: ids.length - 1 }, (_, n) => `ended-${41 - ids.length + n}`)]);
  expect(total()).toBeGreaterThan(60 * mebi);
  await clock.advance(61_000);
  replays.sweep();
  expect(replays.ids()).toEqual(["running"]);
});

/** A stream of `count` deltas, in portions as a network delivers them. */
function talk(count: number, delta: string): ReadableStream<LanguageModelV4StreamPart> {
  let said = 0;
  return new ReadableStream({
    async pull(controller) {
      for (let n = 0; n < 500 && said < count; n += 1, said += 1) controller.enqueue(textDelta(delta));
      await new Promise((resolve) => setImmediate(resolve));
      if (said < count) return;
      controller.enqueue(finish());
      controller.close();
    },
  });
}

test("a turn of 20 MB does not wait for a client that reads nothing: it is stored whole, and its client is cut off", async () => {
  // The server package prints the error that broke a stream.
  vi.spyOn(console, "error").mockImplementation(() => {});
  // An event with this delta takes about 100 bytes on the wire.
  const delta = "ten chars ";
  const count = 200_000;
  const model = scriptedModel([]);
  model.doStream = async () => ({ stream: talk(count, delta) });
  const h = await chatHarness(model);
  const url = new URL(await h.listen());
  const client = connect(Number(url.port), url.hostname);
  onTestFinished(() => void client.destroy());
  client.on("error", () => {}).pause();
  const body = JSON.stringify({ messages: [{ role: "user", content: "Hello" }], chat_id: "c" });
  const head = `POST /api/instances/${h.agent.slug}/chat/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${h.agent.key}\r\n`;
  client.write(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  const status = async () => (await h.services.database.query("select id, status from turns", []))[0];
  await vi.waitFor(async () => expect(await status()).toMatchObject({ status: "done" }), { timeout: 50_000 });
  const { turns, messages } = await h.stored();
  expect(messages[1]?.content.length).toBe(count * delta.length);

  const resume = (lastEventId?: string) =>
    h.request(`/api/instances/${h.agent.slug}/chat/stream/${turns[0]?.id}`, {
      headers: { Authorization: `Bearer ${h.agent.key}`, ...(lastEventId ? { "Last-Event-ID": lastEventId } : {}) },
    });
  const all = await readEvents(await resume());
  expect(all.map(({ event }) => event)).toEqual(["error", "done"]);
  expect(all[0]?.data.message).toContain("no longer kept");
  // Event 1 is `step-start`, so event `count` is the last delta but one.
  const end = await readEvents(await resume(`${turns[0]?.id}:${count}`));
  expect(end.map(({ event }) => event)).toEqual(["text-delta", "step-finish", "done"]);

  const closed = new Promise((resolve) => client.once("close", resolve));
  client.resume();
  await closed;
});
