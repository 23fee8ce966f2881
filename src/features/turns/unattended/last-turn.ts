import { desc, eq, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { conversations, messages, toolCalls, turns } from "../../../db/schema.ts";

/** The state of the one piece of work in a conversation. */
export type Fate =
  /** No turn did the work or is doing it, so it may be started. */
  | { kind: "open" }
  /** A turn is doing the work, perhaps in another process. */
  | { kind: "running" }
  /** The turn waits for approval of a tool call, and continues after the decision. */
  | { kind: "waiting" }
  | { kind: "done"; text: string }
  /** The work is not repeated, since its tool calls may have been made. `reason` contains no secret. */
  | { kind: "failed"; reason: string; text: string };

/**
 * Reads the state of the work from the turns of the conversation `ref`, for a process that takes the work over. Turns
 * after the first one are further attempts, or continue after an approval.
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
  /** The turn that this one continues. */
  continues: string | null;
  /** Whether the turn waited for approval of calls. */
  asked: boolean;
  /** Null when nothing of the turn is stored. */
  text: string | null;
  metadata: unknown;
}

function judge({ status, errorCode, continues, asked, text, metadata }: LastTurn): Fate {
  if (status === "queued" || status === "running") return { kind: "running" };
  if (status === "approval") return { kind: "waiting" };
  const said = text ?? "";
  // No later turn continues this one: nobody decided its calls.
  if (status === "done" && asked) return { kind: "failed", reason: "Nobody approved a call in time", text: said };
  if (status === "done") return { kind: "done", text: said };
  if (errorCode === "stop") return { kind: "failed", reason: stopped, text: said };
  // A failed attempt without tool calls stores no text.
  if (text === null && continues === null) return { kind: "open" };
  const { error } = (metadata ?? {}) as { error?: { message?: string } };
  return { kind: "failed", reason: error?.message ?? "The turn ended with its server", text: said };
}

/** The reason of a stopped turn's failure. A stopped turn is never repeated. */
export const stopped = "Somebody stopped the turn";
