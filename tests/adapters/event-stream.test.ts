import { expect, test } from "vitest";
import { eventReader } from "../../src/adapters/event-stream.ts";
import { processorTime } from "../processor-time.ts";

test.each(["\n", "\r\n"])("reads events whose lines end with %j, however the stream is split", (end) => {
  const data = "x".repeat(5_000);
  const sent = ["event: one", `data: ${data}`, "", "data: two", "data: lines", "", "data: cut off"].join(end);
  for (const length of [1, 7, 4_096, sent.length]) {
    const events: unknown[] = [];
    const read = eventReader(({ event, data }) => events.push([event, data]));
    for (let at = 0; at < sent.length; at += length) read(sent.slice(at, at + length));
    expect(events).toEqual([
      ["one", data],
      [undefined, "two\nlines"],
    ]);
  }
});

test("reads a text of empty lines in linear time", () => {
  const time = (length: number) => {
    const taken = processorTime();
    eventReader(() => {})(`${"\n".repeat(length)}\r`);
    return taken();
  };
  time(16_000);
  const [short, long] = [time(64_000), time(512_000)];
  // A quadratic reader would take 64 times as long; very short times are noise.
  expect(long).toBeLessThan(Math.max(24 * short, 300));
});
