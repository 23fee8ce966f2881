import fc from "fast-check";
import { expect, test } from "vitest";
import type { Activity } from "../../../../src/core/activity/activity.ts";
import { ActivityBus, type Watcher } from "../../../../src/core/activity/bus.ts";
import { localNotify } from "../../../../src/core/notify.ts";
import type { Log, Notify } from "../../../../src/core/ports.ts";
import { Bridge } from "../../../../src/features/activity/replicas/bridge.ts";
import { TestClock } from "../../../clock.ts";

const fail = (fields: object, message: string) => {
  throw new Error(`${message} ${JSON.stringify(fields)}`);
};
const log: Log = { debug() {}, info() {}, warn: fail, error: fail, child: () => log };
const agent = { id: "a", slug: "a", name: "A", organizationId: "o", workspaceId: "w", iconVersion: null };
const said = (text: string): Activity => ({ kind: "inbound", text, agent, conversationId: "c" });

/** Replicas on a network that delivers notices late, and drops those for a replica that is cut off. */
function network(size: number) {
  const clock = new TestClock();
  const sent: { from: number; topic: Parameters<Notify["publish"]>[0]; key: string }[] = [];
  const replicas = Array.from({ length: size }, (_, from) => {
    const local = localNotify(log);
    const notify: Notify = {
      ...local,
      publish(topic, key) {
        local.publish(topic, key);
        sent.push({ from, topic, key });
      },
    };
    const bus = new ActivityBus({ clock, log });
    const bridge = new Bridge({ activity: bus, notify, clock });
    return { bus, local, bridge, cut: false };
  });
  const deliver = () => {
    for (const { from, topic, key } of sent.splice(0)) {
      replicas.forEach(({ local, cut }, to) => {
        if (to !== from && !cut) local.publish(topic, key);
      });
    }
  };
  const heal = (replica: (typeof replicas)[number]) => {
    if (!replica.cut) return;
    replica.cut = false;
    replica.local.gap();
  };
  const settle = async () => {
    for (const replica of replicas) heal(replica);
    for (let round = 0; round < 6; round += 1) {
      deliver();
      await clock.advance(500);
    }
  };
  const watch = (at: number) => {
    const texts: string[] = [];
    const bus = replicas[at]?.bus;
    const end = bus?.watch({
      sees: () => true,
      conversation: { agentId: "a", ref: "c" },
      take: (text) => texts.push(text),
    });
    return {
      end: () => end?.(),
      texts,
      heard: () => texts.flatMap((text) => /"text":"([^"]*)"/.exec(text)?.[1] ?? []),
      ids: () => texts.flatMap((text) => /^id: (\d+)/.exec(text)?.slice(1).map(Number) ?? []),
    };
  };
  return { clock, replicas, sent, deliver, heal, settle, watch };
}

const size = 3;
const replica = fc.nat({ max: size - 1 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("emit" as const), at: replica }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("watch" as const), at: replica }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave" as const), at: fc.nat({ max: 9 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("deliver" as const), at: replica }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("pass" as const), at: fc.constantFrom(1, 60, 1_200, 35_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cut" as const), at: replica }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("heal" as const), at: replica }) },
);

test("in 1,000 random schedules each watcher gets all events of all replicas, each once, in the order of their ids", async () => {
  const schedules = fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
    const net = network(size);
    const watchers: ReturnType<typeof net.watch>[] = [];
    const gone = new Set<(typeof watchers)[number]>();
    const emitted: string[] = [];
    for (const [n, { do: what, at }] of steps.entries()) {
      const there = net.replicas[at];
      if (what === "emit") {
        emitted.push(`${n}`);
        there?.bus.emit(said(`${n}`));
      }
      if (what === "watch") watchers.push(net.watch(at));
      if (what === "leave" && watchers[at] && !gone.has(watchers[at])) gone.add(watchers[at].end() ?? watchers[at]);
      if (what === "deliver") net.deliver();
      if (what === "pass") await net.clock.advance(at);
      if (what === "cut" && there) there.cut = true;
      if (what === "heal" && there) net.heal(there);
    }
    await net.settle();
    for (const watcher of watchers) {
      const heard = watcher.heard();
      expect(new Set(heard).size).toBe(heard.length);
      expect(watcher.ids()).toEqual(watcher.ids().toSorted((one, other) => one - other));
      if (!gone.has(watcher)) expect(heard.toSorted()).toEqual(emitted.toSorted());
      expect(watcher.texts.filter((text) => text.startsWith(":"))).toEqual([]);
    }
    for (const { bridge } of net.replicas) bridge.stop();
  });
  await fc.assert(schedules, { numRuns: 1_000 });
});

test("without watchers elsewhere nothing is sent, and no more soon after the last of them has left", async () => {
  const net = network(2);
  const [one, two] = net.replicas;
  one?.bus.emit(said("unheard"));
  one?.bus.persisted({ agent, conversationId: "c", messageId: "m" });
  await net.clock.advance(60_000);
  expect(net.sent).toEqual([]);
  const own = net.watch(1);
  own.end();
  net.deliver();
  await net.clock.advance(31_000);
  net.sent.length = 0;
  one?.bus.emit(said("later"));
  two?.bus.emit(said("later"));
  await net.clock.advance(60_000);
  expect(net.sent).toEqual([]);
});

test("a replica that was cut off when a watcher came hears of it afterwards", async () => {
  const net = network(2);
  const [one] = net.replicas;
  if (one) one.cut = true;
  const { heard } = net.watch(1);
  net.deliver();
  one?.bus.emit(said("before"));
  if (one) net.heal(one);
  await net.settle();
  one?.bus.emit(said("after"));
  await net.settle();
  expect(heard()).toEqual(["before", "after"]);
});

test("lost events are requested again soon when the clock was set back since the last request", async () => {
  const net = network(2);
  const [one, two] = net.replicas;
  const { heard } = net.watch(1);
  net.deliver();
  net.clock.setBack(60 * 60_000);
  if (two) two.cut = true;
  one?.bus.emit(said("lost"));
  await net.clock.advance(60);
  net.deliver();
  if (two) two.cut = false;
  one?.bus.emit(said("next"));
  await net.settle();
  expect(heard().toSorted()).toEqual(["lost", "next"]);
});

test("stored rows are sent on other replicas too", async () => {
  const net = network(2);
  const { texts } = net.watch(1);
  net.deliver();
  net.replicas[0]?.bus.persisted({ agent, conversationId: "c", messageId: "m" });
  net.replicas[0]?.bus.persisted({ agent, conversationId: "another", messageId: "other" });
  await net.settle();
  expect(texts).toEqual(['event: persisted\ndata: {"messageId":"m"}\n\n']);
});

test("stored rows of all agents are sent on other replicas, except rows of a release that does not name the owners", async () => {
  const net = network(2);
  const told: string[] = [];
  const rowsOf: Watcher["rowsOf"] = ({ organizationId }) => organizationId === agent.organizationId;
  net.replicas[1]?.bus.watch({ sees: () => true, conversation: null, rowsOf, take: (text) => told.push(text) });
  net.deliver();
  net.replicas[0]?.bus.persisted({ agent, conversationId: "c", messageId: "m" });
  const former = { agent: { id: agent.id }, conversationId: "c", messageId: "former" };
  net.replicas[0]?.bridge.stored(former as never);
  await net.settle();
  expect(told).toEqual(['event: persisted\ndata: {"conversationId":"c","messageId":"m"}\n\n']);
});

test("events that no replica keeps any more are missing, and watchers are told", async () => {
  const net = network(2);
  const [one, two] = net.replicas;
  one?.bus.emit(said("before"));
  const early = net.watch(1);
  await net.settle();
  if (two) two.cut = true;
  for (let n = 0; n < 150; n += 1) one?.bus.emit(said(`lost ${n}`));
  await net.clock.advance(100);
  net.deliver();
  await net.settle();
  const last = Array.from({ length: 100 }, (_, n) => `lost ${n + 50}`);
  expect(early.heard()).toEqual(["before", ...last]);
  expect(early.texts.filter((text) => text.startsWith(":"))).toEqual([": 50 events of another replica were lost\n\n"]);
  expect(net.watch(1).heard()).toEqual(last);
});

test("the old events of a replica that was long quiet do not displace the new ones of another", async () => {
  const net = network(2);
  for (let n = 0; n < 100; n += 1) net.replicas[0]?.bus.emit(said("old"));
  await net.clock.advance(60_000);
  for (let n = 0; n < 90; n += 1) net.replicas[1]?.bus.emit(said("new"));
  net.watch(1);
  await net.settle();
  const { heard } = net.watch(1);
  expect(heard().filter((text) => text === "new")).toHaveLength(90);
  expect(heard().filter((text) => text === "old")).toHaveLength(10);
});

test("the events of a conversation that any replica deleted are forgotten by all, and not reported missing", async () => {
  const { replicas, deliver, settle, watch } = network(3);
  const [first, second] = replicas;
  const early = watch(1);
  deliver();
  const say = (text: string, ref: string) => first?.bus.emit({ ...said(text), conversationId: ref });
  say("one", "c");
  say("two", "gone");
  say("three", "c");
  await settle();
  expect(early.heard()).toEqual(["one", "two", "three"]);
  second?.bus.forget({ agentId: "a", ref: "gone" });
  await settle();
  const late = [watch(0), watch(1), watch(2)];
  await settle();
  for (const { texts, heard } of late) {
    expect(heard()).toEqual(["one", "three"]);
    expect(texts.join()).not.toContain("lost");
  }
});

test("all events of an agent are forgotten by every replica", async () => {
  const { replicas, deliver, settle, watch } = network(2);
  const [first, second] = replicas;
  watch(1);
  deliver();
  first?.bus.emit(said("one"));
  first?.bus.emit({ ...said("two"), conversationId: null });
  await settle();
  second?.bus.forget({ agentId: "a", ref: null });
  await settle();
  first?.bus.emit(said("new"));
  await settle();
  for (const { heard } of [watch(0), watch(1)]) expect(heard()).toEqual(["new"]);
});

test("lost events before a forgotten one are requested again", async () => {
  const { clock, replicas, deliver, heal, settle, watch } = network(2);
  const [first, second] = replicas;
  const watcher = watch(1);
  deliver();
  if (second) second.cut = true;
  first?.bus.emit(said("lost"));
  await clock.advance(60);
  deliver();
  if (second) heal(second);
  first?.bus.emit({ ...said("deleted"), conversationId: "gone" });
  first?.bus.forget({ agentId: "a", ref: "gone" });
  await clock.advance(60);
  deliver();
  await settle();
  expect(watcher.heard()).toEqual(["lost"]);
});

test("new events of a deleted conversation are sent and not kept, until it begins anew", async () => {
  const { replicas, deliver, settle, watch } = network(2);
  const [first, second] = replicas;
  const early = watch(1);
  deliver();
  second?.bus.forget({ agentId: "a", ref: "c" });
  await settle();
  first?.bus.emit(said("late"));
  await settle();
  const replayed = [watch(0), watch(1)];
  first?.bus.emit({ ...said("anew"), kind: "conversation", conversation: { event: "started" } });
  first?.bus.emit(said("hello"));
  await settle();
  expect(early.heard()).toEqual(["late", "anew", "hello"]);
  for (const { texts, heard } of [...replayed, watch(0), watch(1)]) {
    expect(heard()).toEqual(["anew", "hello"]);
    expect(texts.join()).not.toContain("lost");
  }
});
