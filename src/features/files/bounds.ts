import { and, eq, ne, sql } from "drizzle-orm";
import type { Services } from "../../context.ts";
import { TtlCache } from "../../core/cache.ts";
import { EngineError } from "../../core/errors.ts";
import type { ObjectStore } from "../../core/ports.ts";
import { conversations, files } from "../../db/schema.ts";

/** In bytes, as the policy `fileMegabytes` counts. */
export const megabyte = 1024 * 1024;

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

/** The bytes of an agent's files in the directory, in all and by `subject` of their conversations. */
interface Usage {
  total: number;
  bySubject: Map<string | null, number>;
}

/**
 * The usage of agents by directory, which a single process writes to. What is stored is added to the last sum, since the
 * embedded database takes some 3 ms to add up a thousand files, and does nothing else meanwhile.
 */
const usages = new WeakMap<ObjectStore, TtlCache<Promise<Usage>>>();

const usageTtlMs = 10 * 60_000;

/** A sum that is older is made anew before it refuses a file: conversations may have been deleted. */
const refusingMs = 60_000;

/**
 * Takes space for a file in the directory, and answers what gives it back. Throws `NoSpaceLeft` when the files of its agent
 * or end user would be larger than the policy `fileMegabytes` allows.
 */
export async function takeSpace(
  services: Services,
  directory: ObjectStore,
  wanted: Wanted,
): Promise<() => Promise<void>> {
  const { database, policies, clock } = services;
  const { agentId, conversationId, size } = wanted;
  const usage = usages.get(directory) ?? new TtlCache({ ttlMs: usageTtlMs, limit: 100, now: () => clock.now() });
  usages.set(directory, usage);
  const [conversation] = await database.db
    .select({ subject: conversations.subject })
    .from(conversations)
    .where(eq(conversations.id, conversationId));
  const subject = conversation?.subject ?? null;

  const measure = () => {
    const measured = measureAgent(services, agentId);
    measured.catch(() => usage.delete(agentId));
    return usage.set(agentId, measured);
  };
  const count = (sums: Usage, bytes: number) => {
    sums.total += bytes;
    sums.bySubject.set(subject, (sums.bySubject.get(subject) ?? 0) + bytes);
  };
  const attempt = async ({ value, loadedAt }: ReturnType<typeof measure>): Promise<void> => {
    const sums = await value;
    const ofUser = (sums.bySubject.get(subject) ?? 0) + size;
    const { total, perUser } = policies.values.fileMegabytes;
    const userIsFull = ofUser > perUser * megabyte;
    if (userIsFull || sums.total + size > total * megabyte) {
      if (clock.now() - loadedAt >= refusingMs) return attempt(measure());
      throw userIsFull ? new NoSpaceLeft("user", perUser) : new NoSpaceLeft("agent", total);
    }
    count(sums, size);
  };
  await attempt(usage.get(agentId) ?? measure());
  return async () => {
    // A sum that was made meanwhile has the file's row, too.
    const sums = await usage.get(agentId)?.value;
    if (sums) count(sums, -size);
  };
}

async function measureAgent({ database }: Services, agentId: string): Promise<Usage> {
  const rows = await database.db
    .select({ subject: conversations.subject, bytes: sql<number>`sum(${files.size})::float8` })
    .from(files)
    .leftJoin(conversations, eq(conversations.id, files.conversationId))
    .where(and(eq(files.agentId, agentId), eq(files.store, "directory"), ne(files.status, "deleting")))
    .groupBy(conversations.subject);
  return {
    total: rows.reduce((sum, { bytes }) => sum + bytes, 0),
    bySubject: new Map(rows.map(({ subject, bytes }) => [subject, bytes])),
  };
}
