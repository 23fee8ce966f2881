import type { Services } from "../../../context.ts";
import { pause } from "../../../core/pause.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Database } from "../../../db/client.ts";
import { keptMs, type Replay, type Replays } from "./replay.ts";
import { refusalText } from "./wire.ts";

// Across replicas: a process that is asked for another's turn leaves a wish in `stream_chunks` (`first` 0) and says so.
// The owner of the turn looks for wishes then, and every 2 seconds, and writes the events there from then on, in batches;
// a row without events is the end. Nothing is written of turns that nobody asks for, nor of a deleted conversation.

/** How often events are written for others, and read. */
export const batchMs = 100;

/** How long to rest when they could not be written. */
const againMs = 1_000;

/** So much a row holds, in UTF-16 units, unless a single event is longer. */
const rowLength = 64 * 1024;

/** Writes down the events of those turns of this process that other replicas were asked for. */
export class Exports {
  readonly #database: Database;
  readonly #services: Services;
  readonly #replays: Replays;
  /** Written, or being written. */
  readonly #begun = new Set<string>();
  readonly #writing = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(services: Services, replays: Replays) {
    this.#database = services.database;
    this.#services = services;
    this.#replays = replays;
    const look = () =>
      this.look().catch((err: unknown) => services.log.warn({ err }, "Wishes for streams could not be read"));
    services.notify.listen("turn-wanted", (turnId) => {
      if (replays.get(turnId)) look();
    });
  }

  /** Begins what was wished for. Call it every 2 seconds; no statement while this process keeps no events. */
  async look(): Promise<void> {
    const kept = this.#replays.ids();
    for (const id of this.#begun) if (!this.#replays.get(id)) this.#begun.delete(id);
    const ids = kept.filter((id) => !this.#begun.has(id));
    if (ids.length === 0) return;
    const wished = await this.#database.query<{ id: string }>(
      "select turn_id as id from stream_chunks where first = 0 and turn_id = any($1::uuid[])",
      [writeArray(ids)],
    );
    for (const { id } of wished) {
      const replay = this.#replays.get(id);
      if (!replay || this.#begun.has(id)) continue;
      this.#begun.add(id);
      const writing = this.#write(replay)
        .catch((err: unknown) => {
          // The next look begins again.
          this.#begun.delete(id);
          this.#services.log.warn({ turnId: id, err }, "A stream could not be handed to another replica");
        })
        .finally(() => this.#writing.delete(writing));
      this.#writing.add(writing);
    }
  }

  /** Writes what is left of the turns that it began with; they have to be over. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#writing);
  }

  async #write(replay: Replay): Promise<void> {
    let written = 0;
    for (;;) {
      const over = replay.endedAt !== null;
      const { last } = replay;
      for (const row of rowsOf(replay.behind(written) ?? [lost(replay)])) {
        if (!(await this.#insert(replay.turnId, written + 1, row.join("")))) return;
        written += row.length;
      }
      written = last;
      if (over) {
        await this.#insert(replay.turnId, written + 1, "");
        return;
      }
      // A server that stops waits for the turn's end alone.
      await this.#rest(batchMs).catch(() => replay.over);
    }
  }

  /**
   * Tries for as long as the turn is kept: readers have what came before, and must miss nothing of it. Answers false
   * when the turn's conversation is deleted.
   */
  async #insert(turnId: string, first: number, events: string): Promise<boolean> {
    for (;;) {
      try {
        const told = await this.#database.query(insertStatement, [turnId, first, events]);
        return told.length > 0;
      } catch (err) {
        if (this.#stopping.signal.aborted || !this.#replays.get(turnId)) throw err;
        this.#services.log.warn({ turnId, err }, "A stream could not be handed to another replica yet");
        await this.#rest(againMs).catch(() => {});
      }
    }
  }

  #rest(ms: number): Promise<void> {
    return pause(this.#services.clock, ms, this.#stopping.signal);
  }
}

function* rowsOf(events: readonly string[]): Generator<string[]> {
  let row: string[] = [];
  let length = 0;
  for (const event of events) {
    row.push(event);
    length += event.length;
    if (length < rowLength) continue;
    yield row;
    row = [];
    length = 0;
  }
  if (row.length > 0) yield row;
}

/** What stands for events that were dropped. */
const lost = ({ turn }: Replay) => refusalText(notKept, turn.conversationRef);

export const notKept = "The beginning of this turn is no longer kept: read the conversation's messages";

/** Locks the turn: who deletes its conversation comes first, or deletes this too. Only stored turns are asked for. */
const insertStatement = `
  with turn as (
    select id from turns where id = $1 and conversation_id is not null for share
  ), chunk as (
    insert into stream_chunks (turn_id, first, events) select id, $2::int, $3 from turn on conflict do nothing
  )
  select 1 from turn`;

/** Forgets what was written for others once nobody can ask for it any more: a turn may take longer than it is kept. */
export async function forgetChunks(database: Database): Promise<void> {
  await database.query(
    `delete from stream_chunks k where k.created_at < now() - $1::interval and not exists (
       select 1 from turns t where t.id = k.turn_id
         and (t.status in ('queued', 'running') or t.finished_at > now() - $1::interval))`,
    [`${(keptMs * 5) / 1000} s`],
  );
}
