import type { Services } from "../../context.ts";
import { notFound } from "../../core/errors.ts";
import { pause } from "../../core/pause.ts";
import { writeArray } from "../../db/arrays.ts";
import type { Database } from "../../db/client.ts";
import type { EventSink } from "../../http/sse.ts";
import { keptMs, type Replay, type Replays } from "./replay.ts";
import { eventText } from "./wire.ts";

// Across replicas: whoever is asked for a turn that another process runs leaves a wish in `stream_chunks` (`first` 0).
// The owner looks for wishes every 2 seconds and writes the events there from then on, in batches; a row without events
// is the end. Nothing is written for turns that nobody asks for, nor of a conversation that was deleted.

/** How often events are written for others, and read. */
const batchMs = 100;

/** How long to rest when they could not be written. */
const againMs = 1_000;

/** How long the owner of a turn may take to answer a wish. */
const patienceMs = 6_000;

/** So much a row holds, in UTF-16 units, unless a single event is longer. */
const rowLength = 64 * 1024;

/** So much is read at a time, in bytes and in rows: a reader is given more when it has taken that. */
const [pageLength, pageRows] = [512 * 1024, 256];

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
  readonly #writing = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

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
        if (!(await this.#insert(replay.turn.id, written + 1, row.join("")))) return;
        written += row.length;
      }
      written = last;
      if (over) {
        await this.#insert(replay.turn.id, written + 1, "");
        return;
      }
      // A server that stops waits for the turn's end alone.
      await this.#rest(batchMs).catch(() => replay.turn.ended.catch(() => {}));
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
const lost = ({ kept: { ref } }: Replay) =>
  eventText(null, "error", { message: notKept }) + eventText(null, "done", { conversationId: ref, messageId: null });

export const notKept = "The beginning of this turn is no longer kept: read the conversation's messages";

/** Locks the turn: who deletes its conversation comes first, or deletes this too. Only stored turns are asked for. */
const insertStatement = `
  with turn as (
    select id from turns where id = $1 and conversation_id is not null for share
  ), chunk as (
    insert into stream_chunks (turn_id, first, events) select id, $2::int, $3 from turn on conflict do nothing
  )
  select 1 from turn`;

interface Page {
  chunks: { first: number; events: string }[];
  /** Whether it was filled, so that more may be there already. */
  full: boolean;
  alive: boolean;
  /** Whether its conversation is gone. */
  deleted: boolean;
}

const pageStatement = `
  with next as (
    select first, events, octet_length(events) as length from stream_chunks
    where turn_id = $1 and first > $2 order by first limit ${pageRows}
  ), page as (
    select first, events, length, sum(length) over (order by first) - length as before from next
  )
  select
    (select coalesce(json_agg(json_build_object('first', first, 'events', events) order by first), '[]')
     from page where before < ${pageLength}) as chunks,
    (select coalesce(sum(length), 0) >= ${pageLength} or count(*) = ${pageRows} from next) as "full",
    exists (select 1 from turns where id = $1 and status in ('queued', 'running') and lease_until > now()) as alive,
    not exists (select 1 from turns where id = $1 and conversation_id is not null) as deleted`;

/** The turns of other processes that are followed here. */
export class ForeignTurns {
  readonly #services: Services;
  /** What is being read, by turn and place: who is at the same place of a turn shares it. */
  readonly #pages = new Map<string, Promise<Page>>();

  constructor(services: Services) {
    this.#services = services;
  }

  /**
   * Tells a reader what a turn said behind event `after`, and what it says, until its end. Answers why it broke off: its
   * owner or its conversation is gone, or it is not kept any more, or there never was such an event; null when all
   * was told.
   */
  async follow(
    { id }: ForeignTurn,
    after: number,
    sink: Pick<EventSink, "writeKept" | "drained">,
    signal: AbortSignal,
  ): Promise<string | null> {
    const { database, clock } = this.#services;
    await database.query(
      "insert into stream_chunks (turn_id, first, events) values ($1, 0, '') on conflict do nothing",
      [id],
    );
    let heardAt = clock.now();
    let read = 0;
    let restMs = 0;
    for (;;) {
      signal.throwIfAborted();
      const { chunks, full, alive, deleted } = await this.#next(id, read, restMs);
      if (deleted) return notFound("Turn").message;
      for (const { first, events } of chunks) {
        if (events === "") return after < first ? null : ahead;
        sink.writeKept(behind({ first, events }, after));
        read = first;
      }
      if (chunks.length > 0) {
        // What waits for a slow reader stays in the database.
        await sink.drained();
        heardAt = clock.now();
      } else if (!alive && clock.now() - heardAt > patienceMs) return read === 0 ? notKept : ownerGone;
      restMs = full ? 0 : batchMs;
    }
  }

  #next(id: string, read: number, restMs: number): Promise<Page> {
    const place = `${id}:${read}`;
    const known = this.#pages.get(place);
    if (known) return known;
    const page = this.#read(id, read, restMs).finally(() => this.#pages.delete(place));
    this.#pages.set(place, page);
    return page;
  }

  async #read(id: string, read: number, restMs: number): Promise<Page> {
    if (restMs > 0) await pause(this.#services.clock, restMs);
    const [page] = await this.#services.database.query<Page>(pageStatement, [id, read]);
    return page ?? { chunks: [], full: false, alive: false, deleted: false };
  }
}

export const ahead = "Last-Event-ID is ahead of the turn";

const ownerGone = "The server that ran this turn is gone";

/** The events of a row that come after the one with this number. */
function behind({ first, events }: Page["chunks"][number], after: number): string[] {
  if (after < first) return [events];
  return events
    .split(/(?<=\n\n)/)
    .filter((event) => Number(/^id: [^:\n]+:(\d+)\n/.exec(event)?.[1] ?? Number.POSITIVE_INFINITY) > after);
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
