import { and, eq, sql } from "drizzle-orm";
import type { Services } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { conversations, files } from "../../db/schema.ts";

/** The refusal of a file because those that are stored already have all the space that they may have. */
export class NoSpaceLeft extends EngineError {
  /** Whose files have it: all of the agent, or those of one end user, group, topic or thread. */
  readonly of: "agent" | "user";

  constructor(of: NoSpaceLeft["of"], megabytes: number) {
    const whose = of === "agent" ? "this agent" : "one person or group";
    const most = `have at most ${megabytes} MB on this machine (the policy fileMegabytes)`;
    super("conflict", `There is no space left for the file: those of ${whose} ${most}`);
    this.of = of;
  }
}

/** Where a file is to be stored, and how large it is in bytes. */
interface Wanted {
  agentId: string;
  conversationId: string;
  size: number;
}

/**
 * Throws `NoSpaceLeft` for a file that would make those of its agent or end user in the directory larger than the policy
 * `fileMegabytes` allows. Files that are stored at the same moment do not count each other.
 */
export async function requireSpace({ database, policies }: Services, { size, ...place }: Wanted): Promise<void> {
  const { total, perUser } = policies.values.fileMegabytes;
  const stored = await measure(database.db, place);
  const exceeds = (bytes: number, megabytes: number) => bytes + size > megabytes * 1024 * 1024;
  if (exceeds(stored.ofUser, perUser)) throw new NoSpaceLeft("user", perUser);
  if (exceeds(stored.ofAgent, total)) throw new NoSpaceLeft("agent", total);
}

/** The bytes of an agent's files in the directory, and of those of the conversation's end user. */
async function measure(db: Services["database"]["db"], { agentId, conversationId }: Omit<Wanted, "size">) {
  const user = db
    .select({ subject: conversations.subject })
    .from(conversations)
    .where(eq(conversations.id, conversationId));
  const bytes = sql<number>`coalesce(sum(${files.size}), 0)::float8`;
  const ofUser = sql<number>`coalesce(sum(${files.size}) filter (where ${conversations.subject} = (${user})), 0)::float8`;
  const [found] = await db
    .select({ ofAgent: bytes, ofUser })
    .from(files)
    .leftJoin(conversations, eq(conversations.id, files.conversationId))
    .where(and(eq(files.agentId, agentId), eq(files.store, "directory"), eq(files.status, "stored")));
  return found ?? { ofAgent: 0, ofUser: 0 };
}
