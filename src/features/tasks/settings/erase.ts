import { and, eq, or, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { scheduledTasks } from "../../../db/schema.ts";
import { type ErasedPerson, isOneOf, isSubject } from "../../../jobs/erased-rows.ts";
import { endTasks } from "../../agents/index.ts";
import { chatsOf } from "../../inbox/index.ts";

/**
 * Deletes the tasks that agents made for the person, or whose results they send to the person. A destination that
 * somebody chose by the API stays.
 */
export async function eraseTasks({ database }: Services, person: ErasedPerson): Promise<void> {
  const { subject, outboundChannel, outboundTarget } = scheduledTasks;
  for (const agent of person.agents) {
    const chat = sql<string>`split_part(${outboundTarget}, ':', 1)`;
    const isSent = and(eq(outboundChannel, person.channel), isOneOf(chat, await chatsOf(database.db, person, agent)));
    await database.transaction((tx) =>
      endTasks(tx, or(isSubject(subject, person, agent), isSent), { agent, reason: "erasure", by: person.by }),
    );
  }
}
