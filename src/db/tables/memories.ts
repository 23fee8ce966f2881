import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import type { SubjectKey } from "../../core/channels/subjects.ts";
import { ofAgent } from "./agents.ts";
import { bytea, createdAt, id, organizationId, tsvector, updatedAt } from "./columns.ts";
import { conversations } from "./conversations.ts";

/** Facts that agents remember about end users. */
export const memories = pgTable(
  "memories",
  {
    id: id(),
    agentId: ofAgent(),
    organizationId: organizationId(),
    /** The end user whom the fact is about; empty for a fact of every conversation. */
    subject: text("subject").$type<SubjectKey>().notNull().default(""),
    content: text("content").notNull(),
    /** The SHA-256 of the content without case, accents and punctuation: equal digests are the same memory. */
    digest: bytea("digest").notNull(),
    category: text("category").notNull().default("general"),
    importance: integer("importance").notNull().default(5),
    sourceConversationId: uuid("source_conversation_id").references(() => conversations.id, { onDelete: "set null" }),
    /**
     * The words of the content without case and accents. The application removes those, since databases do so by their
     * locale or not at all.
     */
    search: tsvector("search").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    check("memories_importance", sql`${table.importance} between 1 and 10`),
    uniqueIndex("memories_digest").on(table.agentId, table.subject, table.digest),
    index("memories_newest").on(table.agentId, table.updatedAt, table.id),
    index("memories_important").on(table.agentId, table.subject, table.importance, table.updatedAt),
    index("memories_source").on(table.sourceConversationId),
    index("memories_search").using("gin", table.search),
  ],
);
