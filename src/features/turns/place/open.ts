import { judge, requireAllowed } from "../../../core/limits/throttle.ts";
import type { Database } from "../../../db/client.ts";
import { throttleValues } from "../../../db/throttle.ts";
import type { Amount } from "../budget/budget.ts";
import type { FirstReservation, PromptRoom } from "../budget/estimate.ts";
import type { CountedCall, Idempotency } from "../request.ts";
import { fitting, noTranscript, readConversation, type Transcript } from "./history.ts";
import { type OpenedRow, openStatement } from "./open-statement.ts";

/** A turn to be opened. */
export interface Opening {
  turnId: string;
  agentId: string;
  agentRevision: number;
  owner: string;
  door: string;
  channel: string;
  source: string;
  subject: string;
  provider: string;
  model: string;
  fingerprint: string;
  requestId: string;
  historyLimit: number;
  room: PromptRoom;
  /** Null: only the turn's row is stored. */
  conversation: { id: string; ref: string; channelId: string; parentId: string | null } | null;
  /** The turn that waited for approval and that this one continues. */
  continues: string | null;
  idempotency: Idempotency | null;
  /** Whether to look for memories of the subject. */
  remembers: boolean;
  /** Null for an entry point without a throttle. */
  throttle: CountedCall | null;
  /** Null when neither the agent nor its end users have a budget. */
  reservation: FirstReservation | null;
}

export type Opened =
  /** The agent's revision is not the cached one: the caller loads the agent and tries again. */
  | { kind: "changed" }
  /** The queue is full, and the amount `held` by each budget must be released. */
  | { kind: "full"; held: Amount }
  /** The end user's budgets of this month do not cover the amount that the turn needs. */
  | { kind: "user-spent"; held: Amount }
  /** The agent's budgets of this month do not cover it, and it must be released from the end user's. */
  | { kind: "spent"; held: Amount }
  | {
      kind: "head" | "queued";
      conversation: { id: string; ref: string; ticket: number } | null;
      /** The turn of the conversation that waited for approval when this one arrived. */
      awaiting: string | null;
      /** Whether any memory may concern the turn. */
      remembered: boolean;
      /** Null for a queued turn. */
      transcript: Transcript | null;
    };

function valuesOf(opening: Opening) {
  const { conversation, throttle, reservation, room, idempotency } = opening;
  const counted = throttle && throttleValues(throttle.key, throttle.limit, throttle.now);
  return {
    ...opening,
    conversationId: conversation?.id ?? null,
    ref: conversation?.ref ?? null,
    parentId: conversation?.parentId ?? null,
    channelId: conversation?.channelId ?? null,
    window: room.window,
    takenBytes: room.takenBytes,
    seesCalls: room.calls,
    idempotencyKey: idempotency?.key ?? null,
    requestDigest: idempotency?.digest ?? null,
    throttleKey: counted?.key ?? null,
    now: counted?.now ?? null,
    resetsAt: counted?.resetsAt ?? null,
    mostCalls: throttle?.limit.calls ?? null,
    month: reservation?.month ?? null,
    tokens: reservation?.tokens ?? null,
    addedTokens: reservation?.addedTokens ?? null,
    answerTokens: reservation?.answerTokens ?? null,
    inputPrice: reservation?.price.input ?? null,
    outputPrice: reservation?.price.output ?? null,
  };
}

/** Opens the turn, or returns why it can't be opened. Throws the 429 of the throttle. */
export async function open(database: Database, opening: Opening): Promise<Opened> {
  const { conversation, throttle, reservation } = opening;
  const { ofAgent, ofUser } = reservation ?? { ofAgent: false, ofUser: false };
  const [stored, throttled] = [conversation !== null, throttle !== null];
  const opens = openStatement({ throttled, stored, remembers: opening.remembers, ofAgent, ofUser });
  const [row] = await opens.run(database, valuesOf(opening));
  if (!row) throw new Error("OPEN answered no row");
  const { count, resets_at_ms } = row;
  if (throttle && count !== null && resets_at_ms !== null) {
    requireAllowed(judge({ count, resets_at_ms }, throttle.limit, throttle.now));
  }
  if (!row.agentFound) return { kind: "changed" };
  const held = { tokens: row.held, cost: row.heldCost };
  if (!row.userGranted) return { kind: "user-spent", held };
  if (!row.agentGranted) return { kind: "spent", held };
  if (row.status === null) return { kind: "full", held };

  const place = row.conversationId === null || !conversation ? null : { ...conversation, id: row.conversationId };
  return {
    kind: row.status === "running" ? "head" : "queued",
    conversation: place && { id: place.id, ref: place.ref, ticket: row.ticket ?? 1 },
    awaiting: row.awaiting,
    remembered: row.remembered,
    transcript: await currentTranscript(database, row, opening),
  };
}

/**
 * An upsert that waited for a lock sees the new `last_seq` but old messages: then they are read again. A queued turn
 * reads its history when it runs.
 */
async function currentTranscript(database: Database, row: OpenedRow, opening: Opening): Promise<Transcript | null> {
  const { status, conversationId, history, room, state, lastSeq } = row;
  if (status === "queued") return null;
  if (conversationId === null || history === null) return noTranscript;
  const newest = history.seq?.[0] ?? 0;
  if (opening.historyLimit > 0 && newest !== lastSeq) return readConversation(database, conversationId, opening);
  return { ...fitting(history, room ?? 0), state: state ?? {}, begins: lastSeq === 0 };
}
