import { expect, test } from "vitest";
import type { Activity } from "../../../src/core/activity/activity.ts";
import { ActivityBus, ringSize, type Watcher } from "../../../src/core/activity/bus.ts";
import type { Log } from "../../../src/core/ports.ts";
import { TestClock } from "../../clock.ts";

const agent = {
  id: "agent",
  slug: "helper",
  name: "Helper",
  organizationId: "organization",
  workspaceId: "workspace",
  iconVersion: null,
};

const said = (text: string, more: Partial<Activity> = {}): Activity => ({
  kind: "inbound",
  text,
  agent,
  conversationId: "one",
  ...more,
});

function open() {
  const clock = new TestClock();
  const errors: string[] = [];
  const log: Log = { debug() {}, info() {}, warn() {}, error: (_, text) => errors.push(text), child: () => log };
  const bus = new ActivityBus({ clock, log });
  const follow = (watcher: Partial<Watcher> = {}, after?: number) => {
    const texts: string[] = [];
    const end = bus.watch(
      { sees: () => true, conversation: null, take: (text) => texts.push(text), ...watcher },
      after,
    );
    return { texts, end, heard: () => texts.map(textOf) };
  };
  return { bus, clock, errors, follow };
}

const dataOf = (text: string) => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? "null");
const textOf = (text: string) => dataOf(text)?.text;
const delivered = () => Promise.resolve();

test("an event is sent in the form of decisions §10", async () => {
  const { bus, clock, follow } = open();
  const { texts } = follow();
  const icon = "/api/instances/helper/icon?v=1";
  const tool = { tool: "httpRequest", status: "ok", durationMs: 12, resultPreview: "{}" } as const;
  bus.emit(said("Called", { kind: "tool-end", id: "call:end", agent: { ...agent, iconVersion: "1" }, ...tool }));
  bus.emit(said("Hello"));
  expect(texts).toEqual([]);
  await delivered();

  expect(texts.map((text) => text.replace(/^id: \d+\ndata: .*\n\n$/, "whole"))).toEqual(["whole", "whole"]);
  expect(texts.map((text) => text.split("\n")[0])).toEqual([1, 2].map((n) => `id: ${clock.now() + n}`));
  expect(dataOf(texts[0] ?? "")).toEqual({
    id: "call:end",
    ts: new Date(clock.now()).toISOString(),
    kind: "tool-end",
    category: "tool",
    text: "Called",
    instance: { id: "agent", slug: "helper", name: "Helper", icon },
    conversationId: "one",
    ...tool,
  });
  expect(dataOf(texts[1] ?? "")).toMatchObject({ category: "message", instance: { icon: null } });
  expect(dataOf(texts[1] ?? "").id).toMatch(/^[0-9a-f-]{36}$/);
});

test("a new watcher gets the last 100 events, then what happens, each once", async () => {
  const { bus, follow } = open();
  const all = Array.from({ length: ringSize + 20 }, (_, n) => String(n));
  for (const text of all) bus.emit(said(text));
  // The first watcher has unread events, which the ring already holds for the second one.
  follow();
  bus.emit(said("waiting"));
  const { heard, end } = follow();
  expect(heard()).toEqual([...all.slice(21), "waiting"]);
  bus.emit(said("live"));
  await delivered();
  expect(heard()).toEqual([...all.slice(21), "waiting", "live"]);
  end();
  bus.emit(said("unheard"));
  await delivered();
  expect(heard()).toHaveLength(ringSize + 1);
});

test("a returning reader gets only the events it missed, and one that comes from another process gets them all", async () => {
  const { bus, follow } = open();
  for (const text of ["a", "b"]) bus.emit(said(text));
  const seen = bus.sequence;
  bus.emit(said("c"));
  expect(follow({}, seen).heard()).toEqual(["c"]);
  expect(follow({}, bus.sequence).heard()).toEqual([]);
  for (const foreign of [1, seen + 1_000]) expect(follow({}, foreign).heard()).toEqual(["a", "b", "c"]);
});

test("an event is encoded once for all its readers, and not at all without any", async () => {
  const { bus, follow } = open();
  let reads = 0;
  const counted = Object.defineProperty(said("Hello"), "tool", { enumerable: true, get: () => (reads += 1) });
  bus.emit(counted);
  await delivered();
  expect(reads).toBe(0);
  follow({ sees: () => false });
  expect(reads).toBe(0);
  const [one, other] = [follow(), follow()];
  expect(reads).toBe(1);
  expect(other.texts).toEqual(one.texts);
});

test("stored rows are sent to followers of their conversation, and not replayed", async () => {
  const { bus, follow } = open();
  const conversation = { agentId: agent.id, ref: "one" };
  const [own, live] = [follow({ conversation }), follow()];
  const elsewhere = [
    { agentId: "other", ref: "one" },
    { ...conversation, ref: "two" },
  ].map((other) => follow({ conversation: other }));
  bus.persisted({ agent, conversationId: "one", messageId: "m" });
  bus.persisted({ agent, conversationId: "one", hookExecutionId: "h" });
  await delivered();
  expect(own.texts).toEqual([
    'event: persisted\ndata: {"messageId":"m"}\n\n',
    'event: persisted\ndata: {"hookExecutionId":"h"}\n\n',
  ]);
  for (const { texts } of [live, ...elsewhere, follow({ conversation })]) expect(texts).toEqual([]);
});

test("a watcher that fails keeps nothing from the others and reaches no producer", async () => {
  const { bus, errors, follow } = open();
  const fail = () => {
    throw new Error("broken");
  };
  follow({ take: fail });
  follow({ sees: fail });
  const { heard } = follow();
  expect(() => bus.emit(said("one"))).not.toThrow();
  await delivered();
  bus.emit(said("two"));
  await delivered();
  expect(heard()).toEqual(["one", "two"]);
  expect(errors).toHaveLength(2);
});
