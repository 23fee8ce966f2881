import { and, asc, count, desc, eq } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { shownSubject } from "../../../core/channels/subjects.ts";
import { notFound } from "../../../core/errors.ts";
import { hasId } from "../../../db/fragments.ts";
import { toolCalls, turns } from "../../../db/schema.ts";
import { totalOf } from "../../../http/paging.ts";
import { findConversation } from "../find.ts";
import { hookExecutionsOfTurn, messagesOfTurn } from "../transcript.ts";
import type { Turn, TurnDebug, TurnPage, TurnQuery, WholeTurn } from "./schema.ts";

const shown = {
  id: turns.id,
  status: turns.status,
  door: turns.door,
  source: turns.source,
  subject: turns.subject,
  provider: turns.provider,
  model: turns.model,
  fingerprint: turns.fingerprint,
  promptTokens: turns.promptTokens,
  completionTokens: turns.completionTokens,
  costMicros: turns.costMicros,
  ttftMs: turns.ttftMs,
  durationMs: turns.durationMs,
  errorCode: turns.errorCode,
  requestId: turns.requestId,
  continues: turns.continues,
  createdAt: turns.createdAt,
  finishedAt: turns.finishedAt,
};

/** A page of the conversation's turns, newest first, including those without stored messages. Throws the 404. */
export async function listTurns(ctx: Ctx, ref: string, { limit = 20, offset = 0 }: TurnQuery): Promise<TurnPage> {
  const { conversation } = await findConversation(ctx, ref);
  const own = eq(turns.conversationId, conversation.id);
  const { db } = ctx;
  const rows = await db.select(shown).from(turns).where(own).orderBy(desc(turns.ticket)).limit(limit).offset(offset);
  const counted = async () => (await db.select({ total: count() }).from(turns).where(own))[0]?.total ?? 0;
  const total = totalOf(rows.length, { limit, offset }) ?? (await counted());
  return { turns: rows.map(toTurn), total, limit, offset };
}

/** All stored data about one turn (decisions §12, "why this answer"). Throws the 404s. */
export async function getTurn(ctx: Ctx, ref: string, turnId: string): Promise<WholeTurn> {
  const found = await findConversation(ctx, ref);
  const own = and(hasId(turns.id, turnId), eq(turns.conversationId, found.conversation.id));
  const { db } = ctx;
  const [turn] = await db
    .select({ ...shown, debug: turns.debug })
    .from(turns)
    .where(own);
  if (!turn) throw notFound("Turn");
  const { debug, ...row } = turn;
  const { toolCallId, name, status, durationMs, decidedBy, reason } = toolCalls;
  const calls = await db
    .select({ toolCallId, toolName: name, status, durationMs, decidedBy, reason })
    .from(toolCalls)
    .where(eq(toolCalls.turnId, turnId))
    .orderBy(asc(toolCalls.id));
  return {
    ...toTurn(row),
    messages: await messagesOfTurn(ctx, found, turnId),
    toolCalls: calls,
    hooks: await hookExecutionsOfTurn(ctx, found, turnId),
    debug: found.agent.debugEnabled ? (debug as TurnDebug | null) : null,
  };
}

type Row = Omit<Turn, "subjectChannel" | "createdAt" | "finishedAt"> & { createdAt: Date; finishedAt: Date | null };

function toTurn({ subject, createdAt, finishedAt, ...row }: Row): Turn {
  return {
    ...row,
    ...shownSubject(subject),
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}
