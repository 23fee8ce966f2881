import type { RoomEvent } from "../../../../../client/index.ts";

export type Outcome = RoomEvent["outcome"];

/** What became of an event, in words. */
export const outcomeWords: Readonly<Record<Outcome, string>> = {
  pending: "waits to be looked at",
  conversation: "begins a conversation",
  backlog: "goes into the backlog",
  "no-match": "no definition is about it",
  "backlog-full": "the backlog is full",
  "room-off": "the Room is off, or the agent is inactive",
  "source-disabled": "the source is off",
  "invalid-payload": "it could not be read",
  "matcher-failed": "the model that matches could not be asked",
};

export const outcomeLooks: Readonly<Record<Outcome, "good" | "warn" | "bad" | "">> = {
  ...{ pending: "warn", conversation: "good", backlog: "good", "no-match": "", "room-off": "", "source-disabled": "" },
  ...{ "backlog-full": "bad", "invalid-payload": "bad", "matcher-failed": "bad" },
};
