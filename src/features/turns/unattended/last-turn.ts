import { desc, eq, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { conversations, messages, toolCalls, turns } from "../../../db/schema.ts";

/** The state of the one piece of work that a conversation is for. */
export type Fate =
  /** No turn did or does the work: it may be taken now. */
  | { kind: "open" }
  /** A turn does the work, perhaps in another process. */
  | { kind: "running" }
  /** Its turn stopped at a tool call, and continues once a person has decided. */
  | { kind: "waiting" }
  | { kind: "done"; text: string }
  /** The work is not taken again, since its tool calls may have run. `reason` holds no secret. */
  | { kind: "failed"; reason: string; text: string };

/**
 * Reads the state of the work from the turns of the conversation `ref`, after the process that took the turn was lost.
 * Later turns than the first are further attempts, or continue after a decision.
 */
export async function fateOf({ db }: Database, ref: string): Promise<Fate> {
  const asked = sql<boolean>`exists (
    select 1 from ${toolCalls} where ${toolCalls.turnId} = ${turns.id} and ${toolCalls.args} is not null)`;
  const { status, errorCode, continues } = turns;
  const { content: text, metadata } = messages;
  const [last] = await db
    .select({ status, errorCode, continues, asked, text, metadata })
    .from(conversations)
    .innerJoin(turns, eq(turns.conversationId, conversations.id))
    .leftJoin(messages, eq(messages.id, turns.id))
    .where(eq(conversations.ref, ref))
    .orderBy(desc(turns.ticket))
    .limit(1);
  return last ? judge(last) : { kind: "open" };
}

interface LastTurn {
  status: string;
  errorCode: string | null;
  /** The turn that it goes on with. */
  continues: string | null;
  /** Whether it stopped at calls. */
  asked: boolean;
  /** Null: nothing of it is stored. */
  text: string | null;
  metadata: unknown;
}

function judge({ status, errorCode, continues, asked, text, metadata }: LastTurn): Fate {
  if (status === "queued" || status === "running") return { kind: "running" };
  if (status === "approval") return { kind: "waiting" };
  const said = text ?? "";
  // A continued turn has a later one, so nobody decided about the tool calls of this one.
  if (status === "done" && asked) return { kind: "failed", reason: "Nobody approved a call in time", text: said };
  if (status === "done") return { kind: "done", text: said };
  if (errorCode === "stop") return { kind: "failed", reason: stopped, text: said };
  // A failed attempt without tool calls stores no text.
  if (text === null && continues === null) return { kind: "open" };
  const { error } = (metadata ?? {}) as { error?: { message?: string } };
  return { kind: "failed", reason: error?.message ?? "The turn ended with its server", text: said };
}

/** Why nothing more comes of a turn that somebody stopped. */
export const stopped = "Somebody stopped the turn";
