import type { Context } from "hono";
import { EngineError, notFound } from "../../../core/errors.ts";
import { isUuid } from "../../../core/ids.ts";
import { clientKey } from "../../../http/address.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { eventStream, eventStreamHeaders } from "../../../http/sse.ts";
import { admit, type Caller, type Grant, type Seat } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import { answerOrigin, type Cors } from "../doors/cors.ts";
import { ahead } from "./foreign.ts";
import { keptMs, type Replay } from "./replay.ts";
import { followReplay, type Streaming } from "./stream.ts";
import { refusalText } from "./wire.ts";

/** A turn that a client asks for, at a door that the turn came through. */
export interface WantedTurn {
  slug: string;
  by: Caller;
  messageId: string;
  door: string;
}

/** The last event that the caller has. */
interface Seen {
  turnId: string;
  number: number;
}

/**
 * The stream of a turn from behind `Last-Event-ID` (decisions §5, "Resume"): what was missed, then what happens. A turn
 * that stopped for a decision leads on to the one that continues it. Throws the 404, and 400 for an id that this stream
 * can't have sent.
 */
export function resumeStream(c: Context<AppEnv>, chat: Chat, wanted: WantedTurn): Promise<Response> {
  return withAgent(c, chat, wanted, async (grant, cors) => {
    const seen = readLastEventId(c.req.header("Last-Event-ID"));
    if (c.req.method === "HEAD") {
      // It comes through the route of GET, but nobody will read: it takes no seat and follows nothing.
      afterOf(await find(chat, grant, wanted, seen), seen, wanted.messageId);
      return c.body(null, 200, { ...eventStreamHeaders, ...cors });
    }
    const seat = chat.turns.streams.enter(clientKey(c.var.ip), grant);
    const streaming = { clock: chat.services.clock, headers: cors, signal: c.req.raw.signal, onEnd: seat.leave };
    try {
      const found = await find(chat, grant, wanted, seen);
      const after = afterOf(found, seen, wanted.messageId);
      if (found instanceof Found) return followReplay(found.replay, after, streaming, seat);
      return followElsewhere(chat, found, after, streaming, seat);
    } catch (refusal) {
      seat.leave();
      throw refusal;
    }
  });
}

/** Stops a turn, whichever replica runs it. Answers false when it was over already. Throws the 404. */
export function stopTurn(c: Context<AppEnv>, chat: Chat, wanted: WantedTurn): Promise<boolean> {
  return withAgent(c, chat, wanted, async ({ agent }) => {
    const { messageId, door } = wanted;
    if (!isTurnId(messageId)) throw notFound("Turn");
    const [turn] = await chat.services.database.query<{ open: boolean }>(
      `with turn as (select id, status in ('queued', 'running') as open from turns where id = $1 and agent_id = $2 and door = $3),
       stopped as (update turns t set stop_requested = true from turn where t.id = turn.id and turn.open)
       select open from turn`,
      [messageId, agent.row.id, door],
    );
    if (!turn) throw notFound("Turn");
    // A process that does not hear it sees it when it renews its leases.
    if (turn.open) chat.services.notify.publish("turn-stopped", messageId);
    return turn.open;
  });
}

/** What is done about a turn that runs already, with the agent as it is now: no statement of the turn looks at it. */
function withAgent<T>(
  c: Context<AppEnv>,
  { turns: { agents } }: Chat,
  { slug, by }: WantedTurn,
  work: (grant: Grant, cors: Cors) => Promise<T>,
): Promise<T> {
  return agents.serve(slug, async (agent) => {
    const cors = answerOrigin(c, agent);
    const grant = admit(agent, slug, by);
    await agents.confirm(grant.agent);
    return work(grant, cors);
  });
}

class Found {
  readonly id: string;
  readonly replay: Replay;

  constructor(replay: Replay) {
    this.id = replay.turnId;
    this.replay = replay;
  }
}

interface Elsewhere {
  id: string;
  ref: string;
}

/** Turns are found by their id as text, too, and `newId` writes lower case. */
const isTurnId = (text: string) => isUuid(text) && text === text.toLowerCase();

async function find(
  chat: Chat,
  { agent }: Grant,
  { messageId, door }: Pick<WantedTurn, "messageId" | "door">,
  seen: Seen | null,
): Promise<Found | Elsewhere> {
  if (!isTurnId(messageId)) throw notFound("Turn");
  const local = ownReplay(chat, messageId, agent.row.id, door);
  if (local?.turn.stored && (await isDeleted(chat, messageId))) {
    chat.replays.drop(messageId);
    throw notFound("Turn");
  }
  if (local && !isExhausted(local, seen)) return new Found(local);
  const turn = await readTurn(chat, { messageId, agentId: agent.row.id, door });
  const next = turn?.next ?? null;
  const going = ownReplay(chat, next ?? messageId, agent.row.id, door) ?? local;
  if (going) return new Found(going);
  if (!turn) throw notFound("Turn");
  return { id: next ?? messageId, ref: turn.ref };
}

function ownReplay({ replays }: Chat, id: string, agentId: string, door: string): Replay | undefined {
  const replay = replays.get(id);
  const own = replay?.turn.agent.id === agentId && replay.turn.door === door;
  return own ? replay : undefined;
}

/** Whether the conversation of a turn that had one is gone. */
async function isDeleted({ services: { database } }: Chat, turnId: string): Promise<boolean> {
  const [turn] = await database.query("select 1 from turns where id = $1 and conversation_id is not null", [turnId]);
  return turn === undefined;
}

/** Whether the caller has had all of it. */
function isExhausted(replay: Replay, seen: Seen | null): boolean {
  return replay.endedAt !== null && seen !== null && (seen.turnId !== replay.turnId || seen.number >= replay.last);
}

interface TurnRow {
  ref: string;
  /** The turn in which it went on. */
  next: string | null;
}

/** A turn that can still be followed: one that runs, that ended just now, or that waits for a decision or went on after it. */
async function readTurn(
  { services: { database } }: Chat,
  { messageId, agentId, door }: { messageId: string; agentId: string; door: string },
): Promise<TurnRow | undefined> {
  const [row] = await database.query<TurnRow>(
    `select c.ref, n.id as next
     from turns t join conversations c on c.id = t.conversation_id left join turns n on n.continues = t.id
     where t.id = $1 and t.agent_id = $2 and t.door = $3
       and (coalesce(n.status, t.status) in ('queued', 'running')
         or coalesce(n.finished_at, t.finished_at) > now() - $4::interval)`,
    [messageId, agentId, door, `${keptMs / 1000} s`],
  );
  return row;
}

function afterOf(found: Found | Elsewhere, seen: Seen | null, messageId: string): number {
  if (!seen) return 0;
  if (seen.turnId !== messageId && seen.turnId !== found.id) {
    throw new EngineError("bad-request", "Last-Event-ID is of another turn");
  }
  if (seen.turnId !== found.id) return 0;
  if (found instanceof Found && seen.number > found.replay.last) {
    throw new EngineError("bad-request", ahead);
  }
  return seen.number;
}

/** `<messageId>:<n>`; null when there is none. Throws the 400 of anything else. */
function readLastEventId(header: string | undefined): Seen | null {
  if (header === undefined || header === "") return null;
  const match = /^([0-9a-f-]{36}):(\d{1,9})$/.exec(header);
  if (!match) throw new EngineError("bad-request", "Last-Event-ID must be <messageId>:<n>, as the events have it");
  return { turnId: match[1] ?? "", number: Number(match[2]) };
}

function followElsewhere(
  { services, foreign }: Chat,
  turn: Elsewhere,
  after: number,
  streaming: Streaming,
  seat: Seat,
): Response {
  const left = new AbortController();
  const { response, sink } = eventStream({ ...streaming, onLeave: () => left.abort() });
  const refuse = (message: string) => sink.write(refusalText(message, turn.ref));
  sink.write(": ping\n\n");
  seat.onRevoked(({ message }) => {
    refuse(message);
    sink.close();
    left.abort();
  });
  foreign
    .follow(turn, after, sink, left.signal)
    .then((problem) => {
      if (problem !== null) refuse(problem);
    })
    .catch((err: unknown) => {
      if (left.signal.aborted) return;
      services.log.error({ turnId: turn.id, err }, "A turn of another replica could not be followed");
      refuse("Internal server error");
    })
    .finally(sink.close);
  return response;
}
