import { and, eq, ne, notExists, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../context/ctx.ts";
import { messengerNames } from "../../core/channels/messengers.ts";
import { subjectChannels } from "../../core/channels/subjects.ts";
import { conversations, memories } from "../../db/schema.ts";
import type { JobKinds } from "../../jobs/attempt.ts";

/**
 * A job for an hour after the migration of subjects: in that hour, servers of the earlier release may have stored
 * memories with bare ids. These get the channel of their conversation, else `web`, unless an equal memory exists.
 */
export function lateSubjectJobs({ services }: { services: Pick<Services, "database"> }): JobKinds {
  return { keyMemories: { run: () => keyMemories(services) } };
}

async function keyMemories({ database: { db } }: Pick<Services, "database">): Promise<void> {
  const { subject, sourceConversationId, agentId, digest } = memories;
  const { id, ref, channel } = conversations;
  const messengers = sql.join(
    messengerNames.map((name) => sql`${name}`),
    sql`, `,
  );
  const known = sql`(
    select case when ${ref} = ${subject} then 'conversation' when ${channel} in (${messengers}) then ${channel} end
    from ${conversations} where ${id} = ${sourceConversationId})`;
  const key = sql`coalesce(${known}, 'web') || ':' || ${subject}`;
  const other = alias(memories, "other");
  const same = and(eq(other.agentId, agentId), eq(other.subject, key), eq(other.digest, digest));
  const isBare = sql`${subject} !~ ${`^(${subjectChannels.join("|")}):`}`;
  await db
    .update(memories)
    .set({ subject: key })
    .where(and(ne(subject, ""), isBare, notExists(db.select({ id: other.id }).from(other).where(same))));
}
