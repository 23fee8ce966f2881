import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../src/adapters/node/server.ts";
import { offeredText } from "../../src/core/text/outlet.ts";
import { eventStream } from "../../src/http/sse.ts";
import { TestClock } from "../clock.ts";

const mebibyte = 1024 * 1024;

function open({ signal = new AbortController().signal } = {}) {
  const clock = new TestClock();
  const onLeave = vi.fn();
  const onEnd = vi.fn();
  const { response, sink } = eventStream({ clock, signal, onLeave, onEnd });
  const reader = () => {
    const found = response.body?.getReader();
    if (!found) throw new Error("The response has no body");
    return found;
  };
  return { clock, onLeave, onEnd, response, sink, reader };
}

const decoded = ({ value }: { value?: Uint8Array | undefined }) => new TextDecoder().decode(value);

test("written data is sent at once to a waiting client", async () => {
  const { sink, reader } = open();
  const stream = reader();
  for (const text of ["data: one\n\n", "data: two\n\n"]) {
    const next = stream.read();
    await new Promise((resolve) => setImmediate(resolve));
    sink.write(text);
    expect(decoded(await next)).toBe(text);
  }
});

test("unread data is joined, in order, and handed over in parts", async () => {
  const { sink, reader } = open();
  const events = Array.from({ length: 1000 }, (_, n) => `data: ${"é".repeat(50)}${n}\n\n`);
  for (const event of events) sink.write(event);
  sink.close();
  const stream = reader();
  const chunks: string[] = [];
  for (let next = await stream.read(); !next.done; next = await stream.read()) chunks.push(decoded(next));

  expect(chunks.join("")).toBe(events.join(""));
  expect(chunks.length).toBeLessThan(10);
  for (const chunk of chunks) expect(chunk).toMatch(/^data: .*\n\n$/s);
});

test("a client that leaves more than 1 MiB unread is disconnected, and holds no memory", async () => {
  const { sink, reader, onLeave, onEnd } = open();
  const event = `data: ${"x".repeat(1000)}\n\n`;
  let written = 0;
  for (; onLeave.mock.calls.length === 0 && written < 4 * mebibyte; written += event.length) sink.write(event);
  sink.write(event);
  sink.close();

  expect(written).toBeGreaterThan(mebibyte);
  expect(written).toBeLessThan(mebibyte + 10 * event.length);
  expect(onLeave).toHaveBeenCalledOnce();
  expect(onEnd).toHaveBeenCalledOnce();
  await expect(reader().read()).rejects.toThrow("The client reads too slowly");
});

test("one event may be longer than the unread limit", async () => {
  const { sink, response, onLeave } = open();
  const long = `data: ${"x".repeat(3 * mebibyte)}\n\n`;
  sink.write(": ping\n\n");
  sink.write(long);
  sink.close();
  expect(await response.text()).toBe(`: ping\n\n${long}`);
  expect(onLeave).not.toHaveBeenCalled();
});

test("replayed events may exceed that limit, are sent in parts, and leave space for live ones", async () => {
  const { sink, reader, onLeave } = open();
  const kept = Array.from({ length: 3000 }, (_, n) => `data: ${"x".repeat(1000)}${n}\n\n`);
  sink.writeKept(kept);
  sink.write("data: live\n\n");
  const stream = reader();
  const chunks: string[] = [];
  while (!chunks.at(-1)?.endsWith("data: live\n\n")) chunks.push(decoded(await stream.read()));
  expect(chunks.join("")).toBe(`${kept.join("")}data: live\n\n`);
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(20_000);
  expect(onLeave).not.toHaveBeenCalled();
  // The part it read may not be left unread again.
  const event = `data: ${"x".repeat(1000)}\n\n`;
  for (let written = 0; written < mebibyte + 10 * event.length; written += event.length) sink.write(event);
  expect(onLeave).toHaveBeenCalledOnce();
});

test("replayed events are sent at once to a client that waits", async () => {
  const { sink, reader } = open();
  const next = reader().read();
  await new Promise((resolve) => setImmediate(resolve));
  sink.writeKept(["data: one\n\n", "data: two\n\n"]);
  expect(decoded(await next)).toBe("data: one\n\ndata: two\n\n");
});

test("a writer waiting until the client took everything continues then, or when it is gone", async () => {
  const { clock, sink, reader } = open();
  sink.writeKept(["data: one\n\n"]);
  const taken = vi.fn();
  void sink.drained().then(taken);
  const stream = reader();
  await stream.read();
  expect(taken).not.toHaveBeenCalled();
  const next = stream.read();
  await vi.waitFor(() => expect(taken).toHaveBeenCalled());
  await sink.drained();
  sink.write("data: two\n\n");
  await next;
  const gone = sink.drained();
  await clock.advance(100_000);
  await gone;
});

test("a client that takes nothing for a minute is disconnected", async () => {
  const { clock, sink, reader, onLeave, onEnd } = open();
  sink.write("data: one\n\n");
  await clock.advance(59_000);
  expect(onLeave).not.toHaveBeenCalled();
  await clock.advance(26_000);
  expect(onLeave).toHaveBeenCalledOnce();
  expect(onEnd).toHaveBeenCalledOnce();
  await expect(reader().read()).rejects.toThrow("The client reads too slowly");
});

test("a client that reads is kept alive, however long nothing happens", async () => {
  const { clock, sink, reader, onLeave } = open();
  const stream = reader();
  for (let minute = 0; minute < 10; minute += 1) {
    const next = stream.read();
    await clock.advance(25_000);
    expect(decoded(await next)).toBe(": ping\n\n");
  }
  const next = stream.read();
  await clock.advance(24_000);
  sink.write("data: late\n\n");
  expect(decoded(await next)).toBe("data: late\n\n");
  // It reads this one late; the minute begins here.
  await clock.advance(50_000);
  expect(onLeave).not.toHaveBeenCalled();
});

test("a closed stream ends when it was read; what comes later is ignored", async () => {
  const { clock, sink, reader, onLeave, onEnd } = open();
  sink.write("data: one\n\n");
  sink.close();
  sink.write("data: never\n\n");
  expect(onEnd).not.toHaveBeenCalled();
  const stream = reader();
  expect(decoded(await stream.read())).toBe("data: one\n\n");
  expect(await stream.read()).toEqual({ done: true, value: undefined });
  await clock.advance(100_000);
  expect(onEnd).toHaveBeenCalledOnce();
  expect(onLeave).not.toHaveBeenCalled();
});

test("a closed stream that nobody reads ends too, and nobody is told of a leaver", async () => {
  const { clock, sink, reader, onLeave, onEnd } = open();
  sink.write("data: one\n\n");
  sink.close();
  await clock.advance(85_000);
  expect(onEnd).toHaveBeenCalledOnce();
  expect(onLeave).not.toHaveBeenCalled();
  await expect(reader().read()).rejects.toThrow();
});

test("a stream whose client left before the runtime took it ends once", () => {
  const aborter = new AbortController();
  const { sink, response, onEnd } = open({ signal: aborter.signal });
  sink.write("data: one\n\n");
  sink.close();
  aborter.abort();
  const outlet = { enqueue: vi.fn(), close: vi.fn(), error: vi.fn() };
  offeredText(response)?.(outlet).pull();
  expect(outlet.error).toHaveBeenCalledOnce();
  expect(onEnd).toHaveBeenCalledOnce();
});

test.each(["cancels", "aborts"])("a client that %s leaves once", async (how) => {
  const aborter = new AbortController();
  const { sink, reader, onLeave, onEnd } = open({ signal: aborter.signal });
  sink.write("data: one\n\n");
  if (how === "aborts") aborter.abort();
  await reader().cancel();
  aborter.abort();
  sink.write("data: two\n\n");
  sink.close();
  expect(onLeave).toHaveBeenCalledOnce();
  expect(onEnd).toHaveBeenCalledOnce();
});

test("the socket of a client that does not read is really closed", async () => {
  // The server package prints the error that broke a stream.
  vi.spyOn(console, "error").mockImplementation(() => {});
  const served = Promise.withResolvers<ReturnType<typeof eventStream>["sink"]>();
  const left = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const listener = await listen("127.0.0.1", 0);
  onTestFinished(() => listener.close());
  listener.serve({
    fetch: ({ signal }) => {
      signal.addEventListener("abort", () => aborted.resolve());
      const { response, sink } = eventStream({ clock: new TestClock(), signal, onLeave: left.resolve });
      served.resolve(sink);
      return response;
    },
  });
  const client: Socket = connect(listener.port, "127.0.0.1");
  onTestFinished(() => void client.destroy());
  client.on("error", () => {});
  client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  client.pause();
  const sink = await served.promise;
  const event = `data: ${"x".repeat(10_000)}\n\n`;
  let gone = false;
  void left.promise.then(() => {
    gone = true;
  });
  for (let n = 0; n < 10_000 && !gone; n += 1) {
    sink.write(event);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(gone).toBe(true);
  await aborted.promise;
  client.resume();
  await once(client, "close");
});

test("all clients together leave no more than 64 Mi unread; then those who read slowly are dropped first, and sooner", async () => {
  const clock = new TestClock();
  const streams = Array.from({ length: 100 }, () => {
    const left = vi.fn();
    const { response, sink } = eventStream({ clock, signal: new AbortController().signal, onLeave: left });
    return { response, sink, left };
  });
  onTestFinished(async () => {
    for (const { response, left } of streams) if (left.mock.calls.length === 0) await response.body?.cancel();
  });
  const portion = "x".repeat(32 * 1024);
  let kept = 0;
  for (const { sink, left } of streams) {
    for (let n = 0; n < 28; n += 1) sink.write(portion);
    if (left.mock.calls.length === 0) kept += 28 * portion.length;
  }
  expect(kept).toBeLessThanOrEqual(65 * 1024 * 1024);
  expect(kept).toBeGreaterThan(40 * 1024 * 1024);
  const dropped = streams.filter(({ left }) => left.mock.calls.length > 0);
  expect(dropped.length).toBeGreaterThan(20);
  await expect(dropped[0]?.response.text()).rejects.toThrow("The client reads too slowly");

  // A reading client still gets all of it.
  const reading = eventStream({ clock, signal: new AbortController().signal });
  const text = reading.response.text();
  for (let n = 0; n < 10; n += 1) {
    reading.sink.write(portion);
    await new Promise((resolve) => setImmediate(resolve));
  }
  reading.sink.close();
  expect(await text).toHaveLength(10 * portion.length);
});
