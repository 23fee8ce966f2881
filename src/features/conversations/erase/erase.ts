import { sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { Db } from "../../../db/client.ts";
import { conversations } from "../../../db/schema.ts";
import {
  batchesOf,
  type ErasedAgent,
  type ErasedPerson,
  messengerOf,
  type PersonId,
} from "../../../jobs/erased-rows.ts";
import { eraseInGroups, eraseShared } from "./groups.ts";
import { eraseOwn, isOwn } from "./own.ts";

/** Deletes the person's conversations, and the person's part of others. */
export async function eraseConversations(services: Services, person: ErasedPerson): Promise<void> {
  for (const agent of person.agents) {
    await eraseOwn(services, person, agent);
    await eraseShared(services, person, agent);
    if (messengerOf(person)) await eraseInGroups(services, person, agent);
  }
}

/** Whether a conversation of the person's own is under legal hold. */
export async function isHeld(
  db: Db,
  { agents, ...person }: PersonId & { agents: readonly Pick<ErasedAgent, "id" | "slug">[] },
): Promise<boolean> {
  for (const agent of agents) {
    const where = sql`${conversations.legalHold} and ${isOwn(person, agent)}`;
    const wanted = { table: conversations, along: conversations.id, agentId: agent.id, where };
    for await (const _ of batchesOf(db, {}, wanted)) return true;
  }
  return false;
}
