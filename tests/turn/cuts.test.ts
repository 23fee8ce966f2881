import fc from "fast-check";
import { expect, test } from "vitest";
import { pause } from "../../src/core/time/pause.ts";
import type { Database } from "../../src/db/client.ts";
import { type Replay, Replays } from "../../src/features/chat/replay/replay.ts";
import { record } from "../../src/features/turns/end/record.ts";
import { isBuffered } from "../../src/turn/hooks.ts";
import { nothingStored, type TurnListener } from "../../src/turn/observers.ts";
import { type DisconnectRule, isOutput, relay } from "../../src/turn/relay.ts";
import { run } from "../../src/turn/run.ts";
import type { TurnEvent, TurnOutcome } from "../../src/turn/types.ts";
import { TestClock } from "../clock.ts";
import { startedTurn } from "../turns.ts";
import { hooksOf, type Script, script, timedModel, toolsOf } from "./cut-scripts.ts";
import { turnInput } from "./input.ts";

/** When a follower leaves: with event `event`, or at `ms`, a half millisecond at which the turn does nothing. */
type Cut = { event: number } | { ms: number };
type Leaving = Cut & { backMs: number };

/** A cut at a fraction of the turn, and the time after which the follower comes back. */
interface Drawn {
  by: "event" | "time";
  at: number;
  backMs: number;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  by: fc.constantFrom("event", "time"),
  // The exponent draws early cuts more often, since most events are early.
  at: fc.integer({ min: 0, max: 999 }).map((at) => (at / 1000) ** 1.5),
  backMs: fc.integer({ min: 0, max: 600 }),
});

interface Told {
  ms: number;
  event: TurnEvent;
  /** The number of events that were sent before this one. */
  sent: number;
}

interface Left {
  ms: number;
  /** The number of the event with which the follower left; null between two events. */
  event: number | null;
  over: boolean;
}

interface Played {
  told: Told[];
  outcome: TurnOutcome;
  /** The roles of the messages that each call of `record` stored. */
  recorded: string[][];
  /** The text of all visits of the follower, in order. */
  followed: string;
  /** The text of all events of the turn. */
  sent: string;
  left: Left[];
  endedMs: number;
}

/** A database that accepts every write and notes the roles of stored messages. */
function takingAll(recorded: string[][]): Database {
  const query = async (_text: string, parameters: readonly unknown[]) => {
    recorded.push(rolesIn(parameters));
    return [{ recorded: true, settled: true, placed: true }];
  };
  return { query } as unknown as Database;
}

/** The roles of the messages that a statement stores. */
function rolesIn(parameters: readonly unknown[]): string[] {
  const lists = parameters.map(String).filter((text) => text.startsWith("["));
  const rows = lists.flatMap((text) => JSON.parse(text) as { role?: string }[]);
  return rows.flatMap(({ role }) => role ?? []);
}

/** Runs one turn, whose only follower leaves and comes back at the cuts. */
async function play(drawnScript: Script, rule: DisconnectRule, cuts: readonly Leaving[]) {
  const clock = new TestClock();
  const beganAt = clock.now();
  const now = () => clock.now() - beganAt;
  const { waitMs, prepareMs } = drawnScript;
  const hooks = hooksOf(drawnScript, clock);
  const input = turnInput(timedModel(drawnScript.steps, clock), { tools: toolsOf(drawnScript, clock), hooks });
  const told: Told[] = [];
  const recorded: string[][] = [];
  let replay: Replay | null = null;
  let waits = waitMs !== null;

  const replays = new Replays(clock);
  let listener: TurnListener | null = null;
  const turn = relay({
    get rule() {
      return isBuffered(hooks) && !waits ? "always-finish" : rule;
    },
    run: async (signal, tell) => {
      if (waitMs !== null) await pause(clock, waitMs, signal);
      waits = false;
      await pause(clock, prepareMs);
      return run(input, signal, clock, (event) => {
        told.push({ ms: now(), event, sent: replay?.last ?? 0 });
        tell(event);
      });
    },
    tell: (event) => listener?.event?.(event),
    record: async (outcome) => {
      const nothing = {
        aftermath: { titleDueAt: null, followUpDueAt: null, title: null, learnable: true },
        measured: null,
        charged: { tokens: 0, cost: 0 },
        costMicros: null,
        debug: null,
        continued: null,
        model: undefined,
        alongside: null,
        fileIds: [],
        whole: false,
      };
      const whose = { turnId: "turn-1", owner: "owner-1", origin: input.origin, fresh: ["Hello"], stored: true };
      const known = await record(takingAll(recorded), { ...whose, ...nothing, outcome });
      listener?.ended?.({ outcome, replyKept: known?.replyKept ?? false, stored: known?.stored ?? nothingStored });
      return outcome;
    },
  });
  listener = replays.started(startedTurn(turn));
  replay = replays.get("turn-1") ?? null;
  if (!replay) throw new Error("The turn is not kept");
  const visits = follow(replay, clock, cuts, () => ({ ms: now(), over: recorded.length > 0 }));

  let over = false;
  const ended = turn.ended.finally(() => {
    over = true;
  });
  const endedMs = ended.then(now);
  while (!over) await clock.advance(1_000);
  const outcome = await ended;
  // A follower that is away comes back within this time.
  await clock.advance(10_000);
  expect(replays.get("turn-1")).toBe(replay);
  const { got, left } = visits();
  const sent = replay.behind(0)?.join("") ?? "";
  return { told, outcome, recorded, followed: got, sent, left, endedMs: await endedMs } satisfies Played;
}

/** Follows a turn as a client that loses its connection at each cut. */
function follow(replay: Replay, clock: TestClock, cuts: readonly Leaving[], moment: () => Omit<Left, "event">) {
  let got = "";
  let seen = 0;
  const left: Left[] = [];
  const visit = (index: number) => {
    const cut = cuts[index];
    let unfollow = () => {};
    let gone = false;
    const leave = (event: number | null) => {
      if (gone) return;
      gone = true;
      left.push({ ...moment(), event });
      unfollow();
      if (cut) clock.after(cut.backMs + 0.125, () => visit(index + 1));
    };
    const write = (text: string) => {
      got += text;
      seen = replay.last;
      if (cut && "event" in cut && seen >= cut.event) leave(seen);
    };
    const missed = replay.behind(seen)?.join("") ?? null;
    if (missed === null) throw new Error("What was missed is gone");
    got += missed;
    seen = replay.last;
    unfollow = replay.follow({ write, close: () => {} });
    if (!cut) return;
    if ("ms" in cut) clock.after(Math.max(0, cut.ms - moment().ms), () => leave(null));
    else if (seen >= cut.event) leave(null);
  };
  visit(0);
  return () => ({ got, left });
}

interface Block {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

function blocks(text: string): Block[] {
  return text.split("\n\n").flatMap((block) => {
    const [, id = "", event = "", data = ""] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block) ?? [];
    return block === "" ? [] : [{ id, event, data: JSON.parse(data) }];
  });
}

/** Whether the turn had produced output when the follower left. */
function producedBefore({ ms, event }: Left, whole: Played): boolean {
  const first = whole.told.find((told) => isOutput(told.event));
  if (!first) return false;
  return event === null ? first.ms < ms : event > first.sent;
}

function isCancelled(left: Left, whole: Played, { waitMs, hooks }: Script, rule: DisconnectRule): boolean {
  const buffered = hooks.some(({ event, mutates }) => event === "response_generated" && mutates);
  const finishes = rule === "always-finish" || (buffered && left.ms >= (waitMs ?? 0));
  return !left.over && !finishes && !producedBefore(left, whole);
}

function expectWhole(cut: Played, whole: Played): void {
  expect(cut.outcome).toEqual(whole.outcome);
  expect(cut.sent).toBe(whole.sent);
  expect(cut.recorded).toEqual(whole.recorded);
  const kept = whole.outcome.status === "done" || whole.outcome.produced;
  expect(cut.recorded).toEqual([kept ? ["user", "assistant"] : []]);
}

function expectDropped(cut: Played, whole: Played, by: Left, { waitMs, prepareMs }: Script): void {
  expect(cut.outcome).toMatchObject({ status: "aborted", reason: "disconnect", produced: false, messages: [] });
  expect(cut.recorded).toEqual([[]]);
  const sent = blocks(cut.sent);
  const [error, done] = sent.splice(-2);
  expect(error).toMatchObject({ event: "error" });
  expect(done).toMatchObject({ event: "done", data: { messageId: null } });
  // An aborted hook is reported as a failed one.
  const last = sent.at(-1);
  if (last?.event === "hook-execution" && cut.told.at(-1)?.ms === by.ms && last.data.success === false) sent.pop();
  expect(sent).toEqual(blocks(whole.sent).slice(0, sent.length));
  // The turn ends at the cut, or after the preparation that can't be aborted.
  expect(cut.endedMs).toBeLessThanOrEqual(Math.max(by.ms, (waitMs ?? 0) + prepareMs));
}

test("1,000 aborts: a turn's ending depends on whether it had any output", {
  timeout: 60_000,
}, async () => {
  const counts = { done: 0, failed: 0, dropped: 0, approval: 0 };
  const rules = fc.constantFrom<DisconnectRule>("cancel-if-silent", "cancel-if-silent", "always-finish");
  const journeys = fc.array(fc.array(drawn, { minLength: 1, maxLength: 3 }), { minLength: 4, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(script, rules, journeys, async (drawnScript, rule, drawnJourneys) => {
      const whole = await play(drawnScript, rule, []);
      const events = blocks(whole.sent).length;
      for (const journey of drawnJourneys) {
        const cuts = journey.map(({ by, at, backMs }) => ({
          ...(by === "event"
            ? { event: 1 + Math.floor(at * events) }
            : { ms: Math.floor(at * (whole.endedMs + 50)) + 0.5 }),
          backMs,
        }));
        const cut = await play(drawnScript, rule, cuts);
        expect(cut.followed).toBe(cut.sent);
        expect(blocks(cut.sent).map(({ id }) => id)).toEqual(
          blocks(cut.sent).map((_block, index) => `turn-1:${index + 1}`),
        );
        const by = cut.left.find((left) => isCancelled(left, whole, drawnScript, rule));
        if (by) expectDropped(cut, whole, by, drawnScript);
        else expectWhole(cut, whole);
        counts[cut.outcome.status === "aborted" ? "dropped" : cut.outcome.status] += 1;
      }
    }),
    { numRuns: 250 },
  );
  // Each kind of ending occurred often enough.
  expect(counts.done).toBeGreaterThan(200);
  expect(counts.dropped).toBeGreaterThan(100);
  expect(counts.failed).toBeGreaterThan(20);
});
