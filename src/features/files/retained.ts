import { sql } from "drizzle-orm";
import { writeArray } from "../../db/arrays.ts";
import { isBefore } from "../../db/fragments.ts";
import { isAtWork } from "../../db/held.ts";
import { conversations, files } from "../../db/schema.ts";
import type { RetainedRows } from "../../jobs/retained-rows.ts";
import { deleteFilesWhere } from "./delete.ts";

/** Whether the conversation is not under legal hold and has no open work that may read the file. */
const isNotNeeded = sql`(
  select ${conversations.legalHold} or ${isAtWork} from ${conversations} where ${conversations.id} = ${files.conversationId}
) is not true`;

/** Stored files age from their upload. The rows stay until jobs have deleted the bytes. */
export const retainedFiles: RetainedRows = {
  subject: "files",
  table: files,
  along: conversations.id,
  parentId: files.conversationId,
  isOld: ({ before }) => sql`${files.status} = 'stored' and ${isBefore(files.createdAt, before)} and ${isNotNeeded}`,
  async remove(tx, { cipher }, { ids, ...limit }) {
    const old = sql`${files.id} = any(${writeArray(ids)}::uuid[]) and ${retainedFiles.isOld(limit)}`;
    return { rows: await deleteFilesWhere(tx, cipher, limit.agentId, old) };
  },
};
