import { sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../../context/ctx.ts";
import { notFound } from "../../../core/errors.ts";
import { pause } from "../../../core/time/pause.ts";
import { fields, jsonObject, type RowOf } from "../../../db/fragments.ts";
import { isOpen, streamChunks, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import type { EventSink } from "../../../http/sse.ts";
import { hasLapsed } from "../../../jobs/heartbeat.ts";
import { batchMs, beginningGone } from "./export.ts";
import type { StreamEnd } from "./wire.ts";

// The reading side of `export.ts`, for clients that resume a turn of another process.

/** How long a turn's owner may take to answer a wish with events. */
const ownerTimeoutMs = 6_000;

/** The most that one statement reads, in bytes and in rows. The next page is read after the reader took this one. */
const [pageLength, pageRows] = [512 * 1024, 256];

/** A turn that another process runs or ran. */
export interface ForeignTurn {
  id: string;
  ref: string;
  /** Whether the turn waits for approval and its events are no longer stored. */
  over: boolean;
}

const pageStatement = statement({ turnId: "uuid", after: "int" }, ({ turnId, after }) => {
  const { first, events } = streamChunks;
  const [next, page] = [alias(streamChunks, "next"), alias(streamChunks, "page")];
  const chunk = jsonObject({ first: page.first, events: page.events });
  const ofTurn = sql`select 1 from ${turns} where ${turns.id} = ${turnId}`;
  const row = fields({
    chunks: sql<RowOf<typeof chunk>[]>`(
      select coalesce(json_agg(${chunk} order by ${page.first}), '[]') from ${page} where before < ${pageLength})`,
    // Whether a limit cut the page: then more rows may exist already.
    full: sql<boolean>`(select coalesce(sum(length), 0) >= ${pageLength} or count(*) = ${pageRows} from ${next})`,
    // Whether the turn is open and its owner holds the lease.
    alive: sql<boolean>`exists (${ofTurn} and ${isOpen(turns)} and not ${hasLapsed(turns.leaseUntil)})`,
    // The time of the wish. Null once a crash of the database emptied the table.
    wishedAt: sql<string | null>`(
      select ${streamChunks.createdAt}::text from ${streamChunks}
      where ${streamChunks.turnId} = ${turnId} and ${first} = 0)`,
    // Whether the turn's conversation was deleted.
    deleted: sql<boolean>`not exists (${ofTurn} and ${turns.conversationId} is not null)`,
  });
  return sql<RowOf<typeof row>>`
    with ${next} as (
      select ${first}, ${events}, octet_length(${events}) as length from ${streamChunks}
      where ${streamChunks.turnId} = ${turnId} and ${first} > ${after} order by ${first} limit ${pageRows}
    ), ${page} as (
      select ${next.first}, ${next.events}, sum(length) over (order by ${next.first}) - length as before from ${next}
    )
    select ${row}`;
});

type Page = Awaited<ReturnType<typeof pageStatement.run>>[number];

/** Follows turns of other processes. */
export class ForeignTurns {
  readonly #services: Services;
  /** The pages being read, by turn and last read event. Readers at the same event share a page. */
  readonly #pages = new Map<string, Promise<Page>>();

  constructor(services: Services) {
    this.#services = services;
  }

  /**
   * Writes the events of a turn after event `after` to `sink`, until the turn's end. Returns null at the end. Otherwise
   * returns why the client can't follow the turn: the owner or the conversation no longer exists, events were dropped,
   * or `after` was never sent. Rejects once `signal` is aborted, and while the database is away.
   */
  async follow(
    { id }: Pick<ForeignTurn, "id">,
    after: number,
    sink: Pick<EventSink, "writeKept" | "drained">,
    signal: AbortSignal,
  ): Promise<StreamEnd | null> {
    const { clock } = this.#services;
    await this.#wish(id);
    let lastSignAt = clock.now();
    let read = 0;
    let knownWish: string | null | undefined;
    let sent = after;
    let restMs = 0;
    for (;;) {
      signal.throwIfAborted();
      const { chunks, full, alive, wishedAt, deleted } = await this.#next(id, read, restMs);
      if (deleted) return { message: notFound("Turn").message };
      if (wishedAt === null) await this.#wish(id);
      const isWrittenAgain = knownWish !== undefined && wishedAt !== knownWish;
      knownWish = wishedAt;
      if (isWrittenAgain) {
        // The owner writes the turn again after a crash, in other rows.
        read = 0;
        restMs = batchMs;
        continue;
      }
      for (const { first, events } of chunks) {
        if (first > sent + 1) return beginningGone;
        if (events === "") return after < first ? null : { message: aheadOfTurn };
        const numbered = events.split(/(?<=\n\n)/);
        sink.writeKept(first > sent ? [events] : numbered.slice(sent + 1 - first));
        sent = Math.max(sent, first + numbered.length - 1);
        read = first;
      }
      // Events that a slow reader has not taken yet stay in the database.
      if (chunks.length > 0) await sink.drained();
      // The last events of an ending turn are stored a moment later.
      if (chunks.length > 0 || alive) lastSignAt = clock.now();
      else if (clock.now() - lastSignAt > ownerTimeoutMs) return read === 0 ? beginningGone : ownerGone;
      restMs = full ? 0 : batchMs;
    }
  }

  /** Asks the turn's owner for its events. */
  async #wish(id: string): Promise<void> {
    const { database, notify } = this.#services;
    await database.db.insert(streamChunks).values({ turnId: id, first: 0, events: "" }).onConflictDoNothing();
    notify.publish("turn-wanted", id);
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
    const [page] = await pageStatement.run(this.#services.database, { turnId: id, after: read });
    return page ?? { chunks: [], full: false, alive: false, wishedAt: null, deleted: false };
  }
}

export const aheadOfTurn = "Last-Event-ID is ahead of the turn";

const ownerGone: StreamEnd = {
  code: "resume_lost",
  message: "The server that ran this turn is gone or can't be reached: resume, or read the conversation's messages",
};
