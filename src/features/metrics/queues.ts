import type { Services } from "../../context/ctx.ts";
import type { Reading } from "../../core/meters.ts";
import { readInTime } from "./read-in-time.ts";
import { type Queues, readQueues } from "./read-queues.ts";

/** The least time between two reads of the database, in milliseconds. */
const freshMs = 5_000;

/** The metrics of work waiting in the database, which are the same on every replica. */
export function measureQueues(services: Services): void {
  const { meters, clock, database } = services;
  const failure = "The queues could not be counted for the metrics";
  const queues = readInTime(services, { freshMs, failure }, () => readQueues(database, clock.now()));
  const gauge = <Label extends string>(
    name: `agent_engine_${string}`,
    help: string,
    labels: readonly Label[],
    read: (queues: Queues) => readonly Reading<Label>[],
  ) =>
    meters.readings({ name, help, labels, type: "gauge" }, async () => {
      const found = await queues();
      return found ? read(found) : [];
    });

  meters.readings(
    { name: "agent_engine_database_up", help: "1 while the database answers in time, else 0.", type: "gauge" },
    async () => [{ value: (await queues()) ? 1 : 0 }],
  );
  gauge(
    "agent_engine_jobs",
    "Background work by kind: due, running, waiting for its time, and failed for good in the last 30 days.",
    ["kind", "state"],
    ({ jobs }) => jobs.map(({ kind, state, count }) => ({ labels: { kind, state }, value: count })),
  );
  gauge(
    "agent_engine_jobs_oldest_seconds",
    "For how long the oldest job of a kind has been due.",
    ["kind"],
    ({ jobs }) =>
      jobs.flatMap(({ kind, state, seconds }) => (state === "due" ? [{ labels: { kind }, value: seconds }] : [])),
  );
  for (const [which, of] of [
    ["outbox", "Parts of replies on their way to people"],
    ["inbox", "Messages of people that wait for their answers"],
  ] as const) {
    gauge(`agent_engine_${which}_messages`, `${of}, by channel.`, ["channel"], (found) =>
      found[which].map(({ channel, count }) => ({ labels: { channel }, value: count })),
    );
    gauge(`agent_engine_${which}_oldest_seconds`, `${of}: the age of the oldest one.`, ["channel"], (found) =>
      found[which].map(({ channel, seconds }) => ({ labels: { channel }, value: seconds })),
    );
  }
  gauge(
    "agent_engine_backlog_entries",
    "Entries of the Rooms' backlogs that are not done.",
    ["status"],
    ({ backlog }) => backlog.map(({ status, count }) => ({ labels: { status }, value: count })),
  );
  gauge(
    "agent_engine_turns_open",
    "Turns of all replicas that run, or wait for their places.",
    ["status"],
    ({ turns }) => turns.map(({ status, count }) => ({ labels: { status }, value: count })),
  );
  gauge(
    "agent_engine_channels_failing",
    "Channels whose messengers refuse them or can't be reached.",
    ["channel"],
    (found) => found.failingChannels.map(({ channel, count }) => ({ labels: { channel }, value: count })),
  );
  gauge(
    "agent_engine_channels_failing_oldest_seconds",
    "For how long the channel that has failed the longest has.",
    ["channel"],
    (found) => found.failingChannels.map(({ channel, seconds }) => ({ labels: { channel }, value: seconds })),
  );
  gauge("agent_engine_approvals_waiting", "Calls of tools that wait for a person's decision.", [], ({ approvals }) => [
    { value: approvals },
  ]);
}
