import { and, eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../../context/ctx.ts";
import { pause } from "../../../core/time/pause.ts";
import type { Database } from "../../../db/client.ts";
import { insertInto } from "../../../db/fragments.ts";
import { isOpen, streamChunks, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { type Replay, type Replays, resumableMs } from "./replay.ts";
import type { StreamEnd } from "./wire.ts";

// How a client follows a turn of another replica: its own process inserts a wish, a row with `first` 0, into
// `stream_chunks` and publishes `turn-wanted`. The turn's owner reads wishes on that notice and every 2 seconds, and
// from then on writes the turn's events into that table in batches; a row without events is the end. Turns without a
// wish and turns of deleted conversations are not written. The table is UNLOGGED: a crash or a failover of PostgreSQL
// empties it. So each insert requires the row before it, and the owner writes a turn again when that row is gone.

/** How often the owner writes events, and other replicas read them. */
export const batchMs = 100;

/** How often the owner of a silent turn looks whether its rows still exist. */
const lookMs = 2_000;

/** The pause after a failed write. */
const retryMs = 1_000;

/** The length at which a row is full, in UTF-16 units; a single event may be longer. */
const rowLength = 64 * 1024;

/** Writes the events of this process's turns for other replicas that follow them. */
export class Exports {
  readonly #database: Database;
  readonly #services: Services;
  readonly #replays: Replays;
  /** The ids of the turns that are being written. */
  readonly #begun = new Set<string>();
  readonly #writing = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(services: Services, replays: Replays) {
    this.#database = services.database;
    this.#services = services;
    this.#replays = replays;
    const begin = () =>
      this.beginWanted().catch((err: unknown) => services.log.warn({ err }, "Wishes for streams could not be read"));
    services.notify.listen("turn-wanted", (turnId) => {
      if (replays.get(turnId)) begin();
    });
  }

  /** Begins to write the turns that have a wish. Call it every 2 seconds; free while this process has no replays. */
  async beginWanted(): Promise<void> {
    const ids = this.#replays.ids().filter((id) => !this.#begun.has(id));
    if (ids.length === 0) return;
    const wished = await wishStatement.run(this.#database, { ids });
    for (const { id } of wished) {
      const replay = this.#replays.get(id);
      if (!replay || this.#begun.has(id)) continue;
      this.#begun.add(id);
      const writing = this.#write(replay)
        .catch((err: unknown) => {
          this.#services.log.warn({ turnId: id, err }, "A stream could not be handed to another replica");
        })
        .finally(() => {
          // The next `beginWanted` begins the turn again, unless its end is stored.
          this.#begun.delete(id);
          this.#writing.delete(writing);
        });
      this.#writing.add(writing);
    }
  }

  /** Writes the remaining events of the turns that were begun. Call it when all turns are over. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#writing);
  }

  /** Writes a turn to its end, or until its rows are gone. A reader notices events that were dropped by the numbers. */
  async #write(replay: Replay): Promise<void> {
    const { turnId } = replay;
    const { clock } = this.#services;
    let written = 0;
    let previous = 0;
    let lookedAt = clock.now();
    const insert = async (events: string) => {
      const first = written + 1;
      const isInserted = await this.#insert({ turnId, previous, first, events });
      previous = first;
      return isInserted;
    };
    for (;;) {
      const over = replay.endedAt !== null;
      written = Math.max(written, replay.dropped);
      const events = replay.behind(written) ?? [];
      for (const row of rowsOf(events)) {
        if (!(await insert(row.join("")))) return;
        written += row.length;
      }
      if (over) {
        await insert("");
        return;
      }
      if (events.length === 0 && clock.now() - lookedAt >= lookMs) {
        lookedAt = clock.now();
        if (await this.#isGone({ turnId, previous })) return;
      }
      // After `stop` the loop only waits for the turn's end.
      await this.#rest(batchMs).catch(() => replay.over);
    }
  }

  /** Whether the table was emptied. A database that is away does not say so. */
  async #isGone({ turnId, previous }: Pick<Chunk, "turnId" | "previous">): Promise<boolean> {
    const row = and(eq(streamChunks.turnId, turnId), eq(streamChunks.first, previous));
    try {
      return (await this.#database.db.$count(streamChunks, row)) === 0;
    } catch {
      return false;
    }
  }

  /**
   * Retries while the replay exists, since a failed row would be a gap for readers. Returns false when the turn's
   * conversation is deleted, or the row `previous` is gone.
   */
  async #insert(chunk: Chunk): Promise<boolean> {
    const { turnId } = chunk;
    for (;;) {
      try {
        const turns = await insertStatement.run(this.#database, chunk);
        return turns.length > 0;
      } catch (err) {
        if (this.#stopping.signal.aborted || !this.#replays.get(turnId)) throw err;
        this.#services.log.warn({ turnId, err }, "A stream could not be handed to another replica yet");
        await this.#rest(retryMs).catch(() => {});
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

export const beginningGone: StreamEnd = {
  code: "resume_lost",
  message: "The beginning of this turn is no longer kept: read the conversation's messages",
};

/** The turns with a wish whose end is not stored. */
const wishStatement = statement({ ids: "uuid[]" }, ({ ids }) => {
  const end = alias(streamChunks, "end");
  const ended = sql`select 1 from ${streamChunks} ${end}
    where ${end.turnId} = ${streamChunks.turnId} and ${end.first} > 0 and ${end.events} = ''`;
  return sql<{ id: string }>`
    select ${streamChunks.turnId} as id from ${streamChunks}
    where ${streamChunks.first} = 0 and ${streamChunks.turnId} = any(${ids}) and not exists (${ended})`;
});

interface Chunk {
  turnId: string;
  /** The `first` of the row before this one. */
  previous: number;
  first: number;
  events: string;
}

/** `for share` orders the insert and the deletion of the conversation: a later deletion deletes the row too. */
const insertStatement = statement(
  { turnId: "uuid", previous: "int", first: "int", events: "text" },
  ({ turnId, previous, first, events }) => {
    const turn = alias(turns, "turn");
    const before = sql`select 1 from ${streamChunks}
      where ${streamChunks.turnId} = ${turnId} and ${streamChunks.first} = ${previous}`;
    return sql`
      with ${turn} as (
        select ${turns.id} from ${turns}
        where ${turns.id} = ${turnId} and ${turns.conversationId} is not null and exists (${before}) for share
      ), chunk as (
        ${insertInto(streamChunks, { turnId: turn.id, first, events })} from ${turn} on conflict do nothing
      )
      select 1 from ${turn}`;
  },
);

/** Deletes rows that no client can resume any more. Rows of running turns stay. */
export async function forgetChunks(database: Database): Promise<void> {
  await forgetStatement.run(database, {});
}

const forgetStatement = statement({}, () => {
  const before = sql`now() - ${(resumableMs * 5) / 1000} * interval '1 second'`;
  const needed = sql`
    select 1 from ${turns}
    where ${turns.id} = ${streamChunks.turnId} and (${isOpen(turns)} or ${turns.finishedAt} > ${before})`;
  return sql`delete from ${streamChunks} where ${streamChunks.createdAt} < ${before} and not exists (${needed})`;
});
