import { newId } from "../../src/core/ids.ts";
import { Replay } from "../../src/features/chat/replay/replay.ts";
import { eventText } from "../../src/features/chat/replay/wire.ts";
import { startedTurn } from "../turns.ts";

// What the events of long replies cost, in a process that does nothing else; its parent gets the figures.

const [rounds, replies, tokens] = [7, 800, 250];
const utf8 = new TextEncoder();

export interface EventCost {
  /** CPU-nanoseconds an event, of each round. */
  ns: number[];
  /** What an event still takes of the heap when the reply is over. */
  bytes: number;
}

export type EventCosts = Record<keyof typeof ways, EventCost>;

/** Takes everything at once, as the stream to a client that reads does. */
const reader = { write: (text: string) => void utf8.encode(text), close: () => {} };

interface Reply {
  add(text: string): void;
  stays: unknown;
}

/** Each begins a reply. */
const ways = {
  sent(): Reply {
    const id = newId();
    let last = 0;
    const add = (text: string) => {
      last += 1;
      reader.write(eventText(`${id}:${last}`, "text-delta", { text }));
    };
    return { add, stays: null };
  },
  kept(): Reply {
    const replay = newReplay();
    replay.follow(reader);
    return { add: (text) => replay.add("text-delta", { text }), stays: replay };
  },
  unread(): Reply {
    const replay = newReplay();
    return { add: (text) => replay.add("text-delta", { text }), stays: replay };
  },
};

function newReplay(): Replay {
  return new Replay(startedTurn({ id: newId(), conversationRef: "long:web:api-1" }));
}

function say(begin: () => Reply): { cpuNs: number; stays: unknown[] } {
  const stays: unknown[] = [];
  const before = process.cpuUsage();
  for (let index = 0; index < replies; index += 1) {
    const reply = begin();
    for (let token = 0; token < tokens; token += 1) reply.add(`token ${token} `);
    stays.push(reply.stays);
  }
  const { user, system } = process.cpuUsage(before);
  return { cpuNs: (user + system) * 1000, stays };
}

function retained(begin: () => Reply): number {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const { stays } = say(begin);
  globalThis.gc?.();
  const bytes = (process.memoryUsage().heapUsed - before) / (stays.length * tokens);
  return bytes;
}

const names = ["sent", "kept", "unread"] as const;
const costs: EventCosts = { sent: cost(), kept: cost(), unread: cost() };
// The first round is for the compiler.
for (let round = 0; round <= rounds; round += 1) {
  for (const name of names) {
    const ns = say(ways[name]).cpuNs / (replies * tokens);
    globalThis.gc?.();
    if (round > 0) costs[name].ns.push(ns);
  }
}
for (const name of names) costs[name].bytes = retained(ways[name]);
process.send?.(costs);
process.disconnect?.();

function cost(): EventCost {
  return { ns: [], bytes: 0 };
}
