import type { Services } from "../../../context.ts";
import { notFound } from "../../../core/errors.ts";
import { pause } from "../../../core/pause.ts";
import type { EventSink } from "../../../http/sse.ts";
import { batchMs, notKept } from "./export.ts";

// The other side of `export.ts`: a process that is asked for a turn which another one runs.

/** How long the owner of a turn may take to answer a wish. */
const patienceMs = 6_000;

/** How much is read at a time, in bytes and in rows: a reader is given more when it has taken that. */
const [pageLength, pageRows] = [512 * 1024, 256];

/** A turn that another process runs or ran. */
export interface ForeignTurn {
  id: string;
  ref: string;
}

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
    const { database, clock, notify } = this.#services;
    await database.query(
      "insert into stream_chunks (turn_id, first, events) values ($1, 0, '') on conflict do nothing",
      [id],
    );
    notify.publish("turn-wanted", id);
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
