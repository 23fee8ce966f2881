import { and, type SQL, sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { auditLogs, conversations } from "../../db/schema.ts";
import { type ErasedPerson, isOneOf, messengerOf, subjectsOf } from "../../jobs/erased-rows.ts";

/** The most entries that one statement looks at. */
const pageSize = 5_000;

interface Position extends Record<string, unknown> {
  read: number;
  at: string;
  id: string;
}

/**
 * Replaces the person by a digest in the entries of the organization: as a subject, in the ids of conversations, and in
 * the paths of refused requests. Runs while the person's conversations are stored, by which it knows their ids.
 */
export async function eraseEntries({ database: { db } }: Services, person: ErasedPerson): Promise<void> {
  const { organizationId, signal } = person;
  const names = namesIn(person);
  const { id, createdAt } = auditLogs;
  for (let after: Position | undefined = { read: pageSize, at: "-infinity", id: nil }; after?.read === pageSize; ) {
    signal.throwIfAborted();
    const page: readonly Position[] = await db.execute<Position>(sql`
      with page as materialized (
        select ${id} as id, ${createdAt} as at from ${auditLogs} where ${auditLogs.organizationId} = ${organizationId}
          and (${createdAt}, ${id}) > (${after.at}::timestamptz, ${after.id}::uuid)
        order by ${createdAt}, ${id} limit ${pageSize}
      ), replaced as (
        update ${auditLogs} set summary = ${names.summary}, target = ${names.target}
        where ${id} = any(array(select page.id from page)) and (${names.inSummary} or ${names.inTarget})
      )
      select (select count(*)::int from page) as read, at::text as at, id from page order by page.at desc, page.id desc limit 1`);
    [after] = page;
  }
}

const nil = "00000000-0000-0000-0000-000000000000";

/** How entries name the person, and what they say instead. */
function namesIn(person: ErasedPerson) {
  const { summary, target } = auditLogs;
  const { channel, id, agents, digest } = person;
  const field = (name: string) => sql<string>`${summary} ->> ${name}`;
  const ofChannel = sql`coalesce(${field("subjectChannel")}, 'web') = ${channel}`;
  const isSubject = sql`coalesce(${and(sql`${field("subject")} = ${id}`, ofChannel)}, false)`;
  const subjects = agents.flatMap((agent) => subjectsOf(person, agent));
  const known = sql`(select ${isOneOf(conversations.subject, subjects)} from ${conversations}
    where ${conversations.ref} = ${field("conversationId")})`;
  const ref = field("conversationId");
  const refs = messengerOf(person) ? agents.map(({ slug }) => `${slug}:${channel}:${id}`) : [];
  // Also of conversations that were deleted before: with its channel and the person's id, or a topic of that chat.
  const isTheirs = sql`coalesce(${known}, ${isOneOf(sql`array_to_string((string_to_array(${ref}, ':'))[1:3], ':')`, refs)}, false)`;
  const replaced = (name: string, condition: SQL) =>
    sql`case when ${condition} then jsonb_build_object(${name}::text, ${digest}::text) else '{}' end`;
  // In a path a plus sign may be encoded.
  const bare = id.replace(/^\+/, "");
  return {
    inSummary: sql`(${isSubject} or ${isTheirs})`,
    summary: sql`${summary} || ${replaced("subject", isSubject)} || ${replaced("conversationId", isTheirs)}`,
    inTarget: sql`(${target} like '% /api/conversations/%' and strpos(${target}, ${bare}) > 0)`,
    target: sql`case when strpos(${target}, ${bare}) > 0
      then regexp_replace(${target}, '( /api/conversations/)[^/]+', '\\1…') else ${target} end`,
  };
}
