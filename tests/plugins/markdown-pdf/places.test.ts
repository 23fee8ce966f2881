import { expect, test } from "vitest";
import { Places } from "../../../src/plugins/markdown-pdf/places.ts";

test("calls wait for a place in their order, and leave when nobody waits for them", async () => {
  const places = new Places(1);
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const use = (name: string, signal = new AbortController().signal) =>
    places.use(signal, () => {
      began.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    });
  const abort = new AbortController();
  const calls = [use("a"), use("left", abort.signal), use("b"), use("c")];
  abort.abort(new Error("Nobody waits"));
  await expect(calls[1]).rejects.toThrow("Nobody waits");
  await expect(use("late", abort.signal)).rejects.toThrow("Nobody waits");
  for (const [index, name] of [
    [0, "a"],
    [2, "b"],
    [3, "c"],
  ] as const) {
    await expect.poll(() => began.at(-1)).toBe(name);
    ends.get(name)?.();
    expect(await calls[index]).toBe(name);
  }
  await expect(places.use(new AbortController().signal, () => Promise.reject(new Error("x")))).rejects.toThrow("x");
  expect(await places.use(new AbortController().signal, async () => "free")).toBe("free");
  expect(began).toEqual(["a", "b", "c"]);
});
