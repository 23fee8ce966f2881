import { type Column, type SQL, sql } from "drizzle-orm";
import { conversations, inbox } from "./schema.ts";

// Conditions under which a retention policy deletes nothing. As values, PostgreSQL evaluates them row by row along an
// index.

/** Whether the conversation with this id or ref, if any, is not under legal hold. */
export const isNotHeld = (by: "id" | "ref", value: Column): SQL =>
  sql`(select ${conversations.legalHold} from ${conversations} where ${conversations[by]} = ${value}) is not true`;

/** Whether a turn of the conversation is open, waits for approval, or will answer a stored message. */
export const isAtWork = sql`(${conversations.openTurns} > 0 or ${conversations.awaiting} is not null or (
  select 1 from ${inbox} where ${inbox.conversationId} = ${conversations.id} and ${inbox.status} = 'pending' limit 1
) is not null)`;
