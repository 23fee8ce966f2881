import { and, eq, ne, sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { TtlCache } from "../../core/cache.ts";
import { EngineError } from "../../core/errors.ts";
import { Semaphore } from "../../core/limits/semaphore.ts";
import type { ObjectStore } from "../../core/ports.ts";
import { conversations, files } from "../../db/schema.ts";

/** Bytes of a megabyte in the policy `fileMegabytes`. */
export const megabyte = 1024 * 1024;

/** The refusal of a file when stored files use all allowed space. */
export class NoSpaceLeft extends EngineError {
  /** Which files were counted: all of the agent, or those of one end user, group, topic or thread. */
  readonly of: "agent" | "user";

  constructor(of: NoSpaceLeft["of"], megabytes: number) {
    const whose = of === "agent" ? "this agent" : "one person or group";
    const most = `have at most ${megabytes} MB on this machine (the policy fileMegabytes)`;
    super("conflict", `There is no space left for the file: those of ${whose} ${most}`);
    this.of = of;
  }
}

/** A file to store, with its size in bytes. */
interface SpaceRequest {
  agentId: string;
  conversationId: string;
  size: number;
}

/** The row of a file that is about to be stored. */
interface PendingRow {
  write(): Promise<void>;
  /** Removes the row; returns whether it was still pending. */
  remove(): Promise<boolean>;
}

/** How many bytes an agent's files in the directory have, in all and by `subject` of their conversations. */
interface Usage {
  total: number;
  bySubject: Map<string | null, number>;
}

/** The measured space of a directory. Only this process writes to the directory. */
interface Space {
  /**
   * The agents' usage. New files are added to the last sum, since the embedded database takes some 3 ms to add up a
   * thousand files, and does nothing else meanwhile.
   */
  usages: TtlCache<Usage>;
  /** While an agent's files are added up, no row of a file is written: the sum might or might not include it. */
  order: Semaphore;
}

const spaces = new WeakMap<ObjectStore, Space>();

const usageTtlMs = 10 * 60_000;

/** A sum older than this is renewed before a file is refused, since conversations may have been deleted. */
const refusingMs = 60_000;

/**
 * Reserves space for a file in the directory and writes the file's row. Returns a function that removes the row and
 * releases the space. Throws `NoSpaceLeft` when the agent's or end user's files would exceed the policy
 * `fileMegabytes`, and the errors of `write`.
 */
export async function takeSpace(
  services: Services,
  directory: ObjectStore,
  { agentId, conversationId, size }: SpaceRequest,
  { write, remove }: PendingRow,
): Promise<() => Promise<void>> {
  const { database, clock } = services;
  const { usages, order } = spaceOf(services, directory);
  const inOrder = (work: () => Promise<void>) => order.run(agentId, new AbortController().signal, work);
  const [conversation] = await database.db
    .select({ subject: conversations.subject })
    .from(conversations)
    .where(eq(conversations.id, conversationId));
  const subject = conversation?.subject ?? null;

  const ofUser = ({ bySubject }: Usage) => bySubject.get(subject) ?? 0;
  const count = (bytes: number) => {
    const usage = usages.get(agentId)?.value;
    if (!usage) return;
    usage.total += bytes;
    usage.bySubject.set(subject, ofUser(usage) + bytes);
  };
  const lackIn = (usage: Usage) => lackOf(services, { total: usage.total + size, ofUser: ofUser(usage) + size });
  const measured = async () => usages.set(agentId, await measureAgent(services, agentId));

  await inOrder(async () => {
    const last = usages.get(agentId) ?? (await measured());
    let lacking = lackIn(last.value);
    if (lacking && clock.now() - last.loadedAt >= refusingMs) lacking = lackIn((await measured()).value);
    if (lacking) throw lacking;
    await write();
    count(size);
  });
  return () =>
    inOrder(async () => {
      if (await remove()) count(-size);
    });
}

function spaceOf({ clock }: Services, directory: ObjectStore): Space {
  const known = spaces.get(directory);
  if (known) return known;
  const usages = new TtlCache<Usage>({ ttlMs: usageTtlMs, limit: 100, now: () => clock.now() });
  const space = { usages, order: new Semaphore({ most: Number.POSITIVE_INFINITY, mostOfOne: 1 }) };
  spaces.set(directory, space);
  return space;
}

/** The refusal at a total of this many bytes; null while there is space. */
function lackOf({ policies }: Services, bytes: { total: number; ofUser: number }): NoSpaceLeft | null {
  const { total, perUser } = policies.values.fileMegabytes;
  if (bytes.ofUser > perUser * megabyte) return new NoSpaceLeft("user", perUser);
  return bytes.total > total * megabyte ? new NoSpaceLeft("agent", total) : null;
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
