import type { Services } from "../../context.ts";
import { pause } from "../../core/pause.ts";
import type { Database } from "../../db/client.ts";
import { type Follower, keptMs, type Replay, type Replays } from "./replay.ts";
import { eventText } from "./wire.ts";

// Across replicas: whoever is asked for a turn that another process runs leaves a wish in `stream_chunks` (`first` 0).
// The owner looks for wishes every 2 seconds and writes the events there from then on, in batches; a row without events
// is the end. Nothing is written for turns that nobody asks for.

/** How often events are written for others, and read. */
const batchMs = 100;

/** How long to rest when they could not be written. */
const againMs = 1_000;

/** How long the owner of a turn may take to answer a wish. */
const patienceMs = 6_000;

/** A turn that another process runs or ran. */
export interface ForeignTurn {
  id: string;
  ref: string;
}

/** Writes down the events of those turns of this process that other replicas were asked for. */
export class Exports {
  readonly #database: Database;
  readonly #services: Services;
  readonly #replays: Replays;
  /** Written, or being written. */
  readonly #begun = new Set<string>();

  constructor(services: Services, replays: Replays) {
    this.#database = services.database;
    this.#services = services;
    this.#replays = replays;
  }

  /** Begins what was wished for. Call it every 2 seconds; no statement while this process keeps no events. */
  async look(): Promise<void> {
    const kept = this.#replays.ids();
    for (const id of this.#begun) if (!this.#replays.get(id)) this.#begun.delete(id);
    const ids = kept.filter((id) => !this.#begun.has(id));
    if (ids.length === 0) return;
    const wished = await this.#database.query<{ id: string }>(
      "select turn_id as id from stream_chunks where first = 0 and turn_id = any($1::uuid[])",
      [`{${ids.join(",")}}`],
    );
    for (const { id } of wished) {
      const replay = this.#replays.get(id);
      if (!replay || this.#begun.has(id)) continue;
      this.#begun.add(id);
      this.#write(replay).catch((err: unknown) => {
        // The next look begins again.
        this.#begun.delete(id);
        this.#services.log.warn({ turnId: id, err }, "A stream could not be handed to another replica");
      });
    }
  }

  async #write(replay: Replay): Promise<void> {
    let written = 0;
    for (;;) {
      const over = replay.endedAt !== null;
      const { last } = replay;
      const events = replay.since(written);
      if (last > written) await this.#insert(replay.turn.id, written + 1, events ?? lost(replay));
      written = last;
      if (over) return this.#insert(replay.turn.id, written + 1, "");
      await pause(this.#services.clock, batchMs);
    }
  }

  /** Tries for as long as the turn is kept: readers have what came before, and must miss nothing of it. */
  async #insert(turnId: string, first: number, events: string): Promise<void> {
    for (;;) {
      try {
        await this.#database.query(
          "insert into stream_chunks (turn_id, first, events) values ($1, $2, $3) on conflict do nothing",
          [turnId, first, events],
        );
        return;
      } catch (err) {
        if (!this.#replays.get(turnId)) throw err;
        this.#services.log.warn({ turnId, err }, "A stream could not be handed to another replica yet");
        await pause(this.#services.clock, againMs);
      }
    }
  }
}

/** What stands for events that were dropped. */
const lost = ({ kept: { ref } }: Replay) =>
  eventText(null, "error", { message: notKept }) + eventText(null, "done", { conversationId: ref, messageId: null });

export const notKept = "The beginning of this turn is no longer kept: read the conversation's messages";

interface Reading {
  chunks: { first: number; events: string }[];
  alive: boolean;
}

const readStatement = `
  select
    (select coalesce(json_agg(json_build_object('first', first, 'events', events) order by first), '[]')
     from stream_chunks where turn_id = $1 and first > $2) as chunks,
    exists (select 1 from turns where id = $1 and status in ('queued', 'running') and lease_until > now()) as alive`;

/**
 * Tells a follower what a turn of another process said behind event `after`, and what it says, until its end. Answers
 * why it broke off: its owner is gone, or keeps nothing any more, or there never was such an event; null when all was told.
 */
export async function followForeign(
  { database, clock }: Services,
  { id }: ForeignTurn,
  after: number,
  follower: Pick<Follower, "write">,
  signal: AbortSignal,
): Promise<string | null> {
  await database.query("insert into stream_chunks (turn_id, first, events) values ($1, 0, '') on conflict do nothing", [
    id,
  ]);
  let heardAt = clock.now();
  let read = 0;
  for (;;) {
    signal.throwIfAborted();
    const [reading] = await database.query<Reading>(readStatement, [id, read]);
    for (const { first, events } of reading?.chunks ?? []) {
      if (events === "") return after < first ? null : ahead;
      follower.write(behind(events, after));
      read = first;
      heardAt = clock.now();
    }
    if (!reading?.alive && clock.now() - heardAt > patienceMs) return read === 0 ? notKept : ownerGone;
    await pause(clock, batchMs, signal);
  }
}

export const ahead = "Last-Event-ID is ahead of the turn";

const ownerGone = "The server that ran this turn is gone";

/** The events of a batch that come after the one with this number. */
function behind(events: string, after: number): string {
  if (after === 0) return events;
  return events
    .split(/(?<=\n\n)/)
    .filter((event) => Number(/^id: [^:\n]+:(\d+)\n/.exec(event)?.[1] ?? Number.POSITIVE_INFINITY) > after)
    .join("");
}

/** Forgets what was written for others once nobody can ask for it any more: a turn may take longer than it is kept. */
export async function forgetChunks(database: Database): Promise<void> {
  await database.query(
    `delete from stream_chunks k where k.created_at < now() - $1::interval and not exists (
       select 1 from turns t where t.id = k.turn_id
         and (t.status in ('queued', 'running') or t.finished_at > now() - $1::interval))`,
    [`${(keptMs * 5) / 1000} s`],
  );
}
