import { type Column, type SQL, sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { batched } from "../../db/batched.ts";
import { assign, column } from "../../db/fragments.ts";
import { conversations } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

/** The results of background work on a conversation. Absent and null fields stay unchanged. */
export interface Findings {
  /** The title; a title that a person set meanwhile stays. */
  title?: string | null;
  summary?: string | null;
  /** The number of messages covered by the summary. */
  summarized?: number | null;
  /** The `seq` of the last message read for memories. A job that ends late never lowers it. */
  read?: number | null;
}

/** The results to store for one conversation. */
export interface Note {
  id: string;
  noted: Findings;
  /**
   * The due time as the database wrote it. If the conversation became due again since then, it stays due. Empty: it
   * stays due in any case.
   */
  at: string;
}

const { id, title, summary, metadata } = conversations;

/** The number of messages at the last summary. */
export const summarizedMessages = sql<number>`coalesce((${metadata} ->> 'summarizedMessages')::int, 0)`;

/** `seq` of the last message read for memories. */
export const extractedSeq = sql<number>`coalesce((${metadata} ->> 'extractedSeq')::int, 0)`;

/** The metadata of a conversation after its messages up to `seq` were read. */
export function withExtracted(seq: SQL): SQL {
  return sql`${metadata} || jsonb_build_object('extractedSeq', (${seq})::int)`;
}

/** Makes a function that stores results of background work, and clears the column `dueAt`, a due time, if given. */
export function createNote(
  services: Pick<Services, "database" | "clock">,
  dueAt: Column | null,
): (note: Note) => Promise<void> {
  const note = statement(
    { ids: "uuid[]", ats: "text[]", titles: "text[]", summaries: "text[]", summarized: "text[]", read: "text[]" },
    (given) => {
      const [summarized, read] = [sql`nullif(noted.summarized, '')::int`, sql`nullif(noted.read, '')::int`];
      const changed = {
        title: sql`coalesce(${title}, nullif(noted.title, ''))`,
        summary: sql`coalesce(nullif(noted.summary, ''), ${summary})`,
        metadata: sql`${metadata} || jsonb_strip_nulls(jsonb_build_object('summarizedMessages', ${summarized},
          'extractedSeq', case when noted.read <> '' then greatest(${extractedSeq}, ${read}) end))`,
      };
      const due = dueAt && sql`, ${column(dueAt)} = nullif(${dueAt}, nullif(noted.at, '')::timestamptz)`;
      return sql`
        update ${conversations} set ${assign(conversations, changed)}${due ?? sql``}
        from unnest(${given.ids}, ${given.ats}, ${given.titles}, ${given.summaries}, ${given.summarized}, ${given.read})
          as noted(id, at, title, summary, summarized, read)
        where ${id} = any(${given.ids}) and ${id} = noted.id`;
    },
  );
  return batched(services, async (notes: readonly Note[]) => {
    const texts = (key: keyof Findings) => notes.map(({ noted }) => String(noted[key] ?? ""));
    await note.run(services.database, {
      ids: notes.map((one) => one.id),
      ats: notes.map(({ at }) => at),
      titles: texts("title"),
      summaries: texts("summary"),
      summarized: texts("summarized"),
      read: texts("read"),
    });
    return [];
  });
}
