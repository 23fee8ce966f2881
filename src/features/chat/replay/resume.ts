import { and, eq, isNotNull, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Context } from "hono";
import { asEngineError, EngineError, notFound } from "../../../core/errors.ts";
import { isUuid } from "../../../core/ids.ts";
import { assign, fields, orNull, type RowOf } from "../../../db/fragments.ts";
import { conversations, isOpen, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { clientKey } from "../../../http/callers/address.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { eventStream, eventStreamHeaders } from "../../../http/sse.ts";
import type { Caller, Grant, Seat } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import { admitAt, countRefusal } from "../request/agent-key.ts";
import { answerOrigin, type Cors } from "../request/cors.ts";
import { RequestThrottle } from "../request/throttle.ts";
import { aheadOfTurn, type ForeignTurn } from "./foreign.ts";
import { type Replay, resumableMs } from "./replay.ts";
import { followOwn, type Streaming } from "./stream.ts";
import { refusalText, type StreamEnd } from "./wire.ts";

/** A client's request for a turn. `door` must be the endpoint that took the turn. */
export interface WantedTurn {
  slug: string;
  by: Caller;
  messageId: string;
  door: string;
}

/** The last event that the client has received. */
interface Seen {
  turnId: string;
  number: number;
}

/**
 * The stream of a turn after `Last-Event-ID` (decisions §5, "Resume"): the missed events, then the live ones. After an
 * approval the stream goes on with the turn that continues the wanted one. Throws the 404, and 400 for an id that this
 * stream can't have sent.
 */
export function resumeStream(c: Context<AppEnv>, chat: Chat, wanted: WantedTurn): Promise<Response> {
  return withAgent(c, chat, wanted, async (grant, cors) => {
    const seen = readLastEventId(c.req.header("Last-Event-ID"));
    if (c.req.method === "HEAD") {
      // Hono routes HEAD to GET. A HEAD has no body, so it takes no permit and follows no turn.
      afterOf(await find(chat, grant, wanted, seen), seen, wanted.messageId);
      return c.body(null, 200, { ...eventStreamHeaders, ...cors });
    }
    const client = clientKey(c.get("ip"));
    const seat = chat.turns.streams.enter(client, grant);
    const streaming = { clock: chat.services.clock, headers: cors, signal: c.req.raw.signal, onEnd: seat.leave };
    try {
      const found = await find(chat, grant, wanted, seen);
      const after = afterOf(found, seen, wanted.messageId);
      return followOn(chat, grant, { found, after, door: wanted.door, client }, streaming, seat);
    } catch (refusal) {
      seat.leave();
      throw refusal;
    }
  });
}

/** Stops a turn of any replica. Returns false when the turn was over already. Throws the 404. */
export function stopTurn(c: Context<AppEnv>, chat: Chat, wanted: WantedTurn): Promise<boolean> {
  return withAgent(c, chat, wanted, async ({ agent }) => {
    const { messageId, door } = wanted;
    if (!isTurnId(messageId)) throw notFound("Turn");
    const [turn] = await stopStatement.run(chat.services.database, { messageId, agentId: agent.row.id, door });
    if (!turn) throw notFound("Turn");
    // A process that missed the notice reads `stop_requested` when it renews its leases.
    if (turn.open) chat.services.notify.publish("turn-stopped", messageId);
    return turn.open;
  });
}

const stopStatement = statement(
  { messageId: "uuid", agentId: "uuid", door: "text" },
  ({ messageId, agentId, door }) => {
    const wanted = alias(turns, "wanted");
    return sql<{ open: boolean }>`
      with ${wanted} as (
        select ${turns.id}, ${isOpen(turns)} as open from ${turns}
        where ${turns.id} = ${messageId} and ${turns.agentId} = ${agentId} and ${turns.door} = ${door}
      ), stopped as (
        update ${turns} set ${assign(turns, { stopRequested: true })} from ${wanted}
        where ${turns.id} = ${wanted.id} and open
      )
      select open from ${wanted}`;
  },
);

/**
 * Admits the caller by the current agent (`confirm`) and counts the request, since there is no OPEN here to do so. The
 * guard of the playground has counted its requests already.
 */
async function withAgent<T>(
  c: Context<AppEnv>,
  chat: Chat,
  { slug, by }: WantedTurn,
  work: (grant: Grant, cors: Cors) => Promise<T>,
): Promise<T> {
  const { agents } = chat.turns;
  const throttle = new RequestThrottle(c, chat, by.type === "client" ? "caller" : "guard");
  try {
    return await agents.serve(slug, async (agent) => {
      const cors = answerOrigin(c, agent);
      const grant = admitAt(c, chat, { agent, slug, by });
      await agents.confirm(grant.agent);
      if (by.type === "client") throttle.limitCaller(grant.holdsKey ? grant.agent.row.id : null);
      await throttle.count();
      return work(grant, cors);
    });
  } catch (refusal) {
    if (by.type !== "client" || throttle.isLimited) throw refusal;
    countRefusal(c, refusal);
    throw refusal;
  }
}

/** A turn whose replay is in this process. */
class OwnTurn {
  readonly id: string;
  readonly replay: Replay;

  constructor(replay: Replay) {
    this.id = replay.turnId;
    this.replay = replay;
  }
}

/** Lower case only: `Replays` compares ids as texts, and `newId` writes lower case. */
const isTurnId = (text: string) => isUuid(text) && text === text.toLowerCase();

/** The turn to stream: the wanted one or the turn that continues it. Throws the 404. */
async function find(
  chat: Chat,
  { agent }: Grant,
  { messageId, door }: Pick<WantedTurn, "messageId" | "door">,
  seen: Seen | null,
): Promise<OwnTurn | ForeignTurn> {
  if (!isTurnId(messageId)) throw notFound("Turn");
  const local = ownReplay(chat, messageId, agent.row.id, door);
  if (local?.turn.stored && (await isDeleted(chat, messageId))) {
    chat.replays.drop(messageId);
    throw notFound("Turn");
  }
  if (local && !isExhausted(local, seen)) return new OwnTurn(local);
  const turn = await readTurn(chat, { messageId, agentId: agent.row.id, door });
  const next = turn?.next ?? null;
  // Another process continues the turn: the local replay ends before events that the client already has.
  const kept = next !== null && seen?.turnId === next ? undefined : local;
  const current = ownReplay(chat, next ?? messageId, agent.row.id, door) ?? kept;
  if (current) return new OwnTurn(current);
  if (!turn) throw notFound("Turn");
  return { id: next ?? messageId, ref: turn.ref, over: next === null && turn.over };
}

function ownReplay({ replays }: Chat, id: string, agentId: string, door: string): Replay | undefined {
  const replay = replays.get(id);
  const own = replay?.turn.agent.id === agentId && replay.turn.door === door;
  return own ? replay : undefined;
}

/** Whether the conversation of a stored turn was deleted. */
async function isDeleted({ services: { database } }: Chat, turnId: string): Promise<boolean> {
  const stored = and(eq(turns.id, turnId), isNotNull(turns.conversationId));
  const [turn] = await database.db.select({ id: turns.id }).from(turns).where(stored);
  return turn === undefined;
}

/** Whether the client has all events of an ended turn. */
function isExhausted(replay: Replay, seen: Seen | null): boolean {
  return replay.endedAt !== null && seen !== null && (seen.turnId !== replay.turnId || seen.number >= replay.last);
}

/**
 * Reads a turn that runs, waits for approval, or ended within `resumableMs`, or whose continuing turn does so;
 * undefined for none. `over`: its events are no longer stored.
 */
async function readTurn(
  { services: { database } }: Chat,
  wanted: { messageId: string; agentId: string; door: string },
): Promise<{ ref: string; next: string | null; over: boolean } | undefined> {
  const [row] = await resumableStatement.run(database, wanted);
  return row;
}

const resumableStatement = statement(
  { messageId: "uuid", agentId: "uuid", door: "text" },
  ({ messageId, agentId, door }) => {
    const next = alias(turns, "next");
    const waits = sql`${turns.status} = 'approval'`;
    const status = sql`coalesce(${next.status}, ${turns.status}) in ('queued', 'running')`;
    const lately = sql`coalesce(${next.finishedAt}, ${turns.finishedAt})
      > now() - ${resumableMs / 1000} * interval '1 second'`;
    const over = sql<boolean>`${waits} and not ${lately}`;
    const row = fields({ ref: conversations.ref, next: orNull(next.id), over });
    return sql<RowOf<typeof row>>`
      select ${row}
      from ${turns} join ${conversations} on ${conversations.id} = ${turns.conversationId}
      left join ${turns} ${next} on ${next.continues} = ${turns.id}
      where ${turns.id} = ${messageId} and ${turns.agentId} = ${agentId} and ${turns.door} = ${door}
        and (${status} or ${lately} or ${waits})`;
  },
);

/** The number of the last event of the found turn that the client has; 0 for none. Throws the 400s. */
function afterOf(found: OwnTurn | ForeignTurn, seen: Seen | null, messageId: string): number {
  if (!seen) return 0;
  if (seen.turnId !== messageId && seen.turnId !== found.id) {
    throw new EngineError("bad-request", "Last-Event-ID is of another turn");
  }
  if (seen.turnId !== found.id) return 0;
  if (found instanceof OwnTurn && seen.number > found.replay.last) {
    throw new EngineError("bad-request", aheadOfTurn);
  }
  return seen.number;
}

/** Parses `<messageId>:<n>`; null without the header. Throws the 400 for a malformed one. */
function readLastEventId(header: string | undefined): Seen | null {
  if (header === undefined || header === "") return null;
  const match = /^([0-9a-f-]{36}):(\d{1,9})$/.exec(header);
  if (!match) throw new EngineError("bad-request", "Last-Event-ID must be <messageId>:<n>, as the events have it");
  return { turnId: match[1] ?? "", number: Number(match[2]) };
}

/**
 * Streams a turn from after event `after` to its end. After a turn that waits for approval, the stream waits for the
 * turn that continues it, and goes on with that.
 */
function followOn(
  chat: Chat,
  grant: Grant,
  { found, after, door, client }: { found: OwnTurn | ForeignTurn; after: number; door: string; client: string },
  streaming: Streaming,
  seat: Seat,
): Response {
  const { services, foreign, continuations } = chat;
  const left = new AbortController();
  const { response, sink } = eventStream({ ...streaming, onLeave: () => left.abort() });
  let turn = found;
  const refOf = () => (turn instanceof OwnTurn ? turn.replay.turn.conversationRef : turn.ref);
  const refuse = (end: StreamEnd) => sink.write(refusalText(end, refOf()));
  const lead = async () => {
    for (let from = after; ; from = 0) {
      const problem =
        turn instanceof OwnTurn
          ? await followOwn(turn.replay, from, sink, left.signal)
          : turn.over
            ? null
            : await foreign.follow(turn, from, sink, left.signal);
      if (problem !== null) return refuse(problem);
      if (turn instanceof OwnTurn && !turn.replay.awaitsDecision) return;
      const ref = refOf();
      const next = await continuations.next(turn.id, client, left.signal);
      if (next === null) return;
      const own = ownReplay(chat, next, grant.agent.row.id, door);
      turn = own ? new OwnTurn(own) : { id: next, ref, over: false };
    }
  };
  // Some runtimes send the headers only with the first bytes of the body.
  sink.write(": ping\n\n");
  seat.onRevoked(({ message }) => {
    refuse({ message });
    sink.close();
    left.abort();
  });
  lead()
    .catch((err: unknown) => {
      if (left.signal.aborted) return;
      services.log.error({ turnId: turn.id, err }, "A turn could not be followed any more");
      refuse(endOf(err));
    })
    .finally(sink.close);
  return response;
}

/** The turn itself does not fail with the process that follows it. */
function endOf(err: unknown): StreamEnd {
  if (asEngineError(err).code !== "unavailable") return { message: "Internal server error" };
  return { code: "unavailable", message: "The turn can't be followed at the moment: resume it" };
}
