import { z } from "@hono/zod-openapi";
import { and, eq, inArray, lt, sql } from "drizzle-orm";
import { audit } from "../../../context/audit.ts";
import type { Services } from "../../../context/ctx.ts";
import { subjectChannels } from "../../../core/channels/subjects.ts";
import type { Cipher } from "../../../core/credentials/cipher.ts";
import { fromBase64, newId, toBase64, toHex } from "../../../core/ids.ts";
import { agents, auditLogs, isOpen, organizations, turns } from "../../../db/schema.ts";
import type { JobKinds } from "../../../jobs/attempt.ts";
import { defineJob } from "../../../jobs/define.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import type { Erase, ErasedPerson } from "../../../jobs/erased-rows.ts";
import { Postponed } from "../../../jobs/postponed.ts";

const Payload = z.object({
  /** The id of the erasure. */
  batch: z.uuid(),
  organizationId: z.uuid(),
  /** Absent: all agents of the organization. */
  agentId: z.uuid().optional(),
  /** The person, sealed: a job may fail, and is stored then. */
  keys: z.object({ keyId: z.string(), ciphertext: z.string() }),
  /** When the first pass ended, as the database writes it; absent for the first pass. */
  since: z.string().optional(),
});
type Payload = z.infer<typeof Payload>;

/** Erases a person, in two passes: work that runs during the first one may still write. */
export const erasureJob = defineJob("erasure", Payload, ({ batch }) => batch);

/** The attempts of a job. With their pauses they take about two days, like those that delete files. */
export const maxAttempts = 300;

/** The longest run of a pass, in milliseconds: an organization may have hundreds of millions of rows. */
const longestMs = 6 * 60 * 60_000;

/** The time between the passes, in milliseconds. A process holds the events of ended turns for a minute. */
const restMs = 70_000;

const Person = z.object({ channel: z.enum(subjectChannels), id: z.string() });
type Person = z.infer<typeof Person>;

const sealedAs = (batch: string) => `erasure:${batch}`;

export async function sealPerson(cipher: Cipher, batch: string, person: Person): Promise<Payload["keys"]> {
  const { keyId, ciphertext } = await cipher.seal(JSON.stringify(person), sealedAs(batch));
  return { keyId, ciphertext: toBase64(ciphertext) };
}

/** The text that stands for the person in the audit log: an HMAC, since a digest of a phone number could be guessed. */
export async function digestOf(
  cipher: Cipher,
  { organizationId, channel, id }: Person & { organizationId: string },
): Promise<string> {
  const [current = new Uint8Array()] = await cipher.fingerprints(`person:${organizationId}:${channel}:${id}`);
  return toHex(current);
}

/** The job. Every step of a pass may be repeated. It also runs while the feature is off. */
export function erasureJobs(services: Services, erasers: () => readonly Erase[]): JobKinds {
  const { database, clock, activity } = services;
  const erase = async (payload: Payload, signal: AbortSignal) => {
    const { organizationId, since } = payload;
    const person = await personOf(services, payload, signal);
    if (since !== undefined) await waitForTurns(services, person, since);
    for (const one of erasers()) {
      signal.throwIfAborted();
      await one(services, person);
    }
    for (const agent of person.agents) activity.forget({ agentId: agent.id, ref: null });
    if (since !== undefined) return complete(services, payload, person);
    const [row] = await database.db.execute<{ now: string }>(sql`select now()::text as now`);
    const next = erasureJob.of({ ...payload, since: row?.now ?? "" }, new Date(clock.now() + restMs));
    await enqueue(database.db, next, { organizationId, maxAttempts });
  };
  return erasureJob.doneBy(({ payload }, signal) => erase(payload, signal), { limit: 1, longestMs });
}

async function personOf(
  { database, cipher }: Services,
  { batch, organizationId, agentId, keys }: Payload,
  signal: AbortSignal,
): Promise<ErasedPerson> {
  const sealed = { keyId: keys.keyId, ciphertext: fromBase64(keys.ciphertext) ?? new Uint8Array() };
  const { channel, id } = Person.parse(JSON.parse(await cipher.open(sealed, sealedAs(batch))));
  const found = await database.db
    .select({ id: agents.id, slug: agents.slug, organizationId: agents.organizationId })
    .from(agents)
    .where(and(eq(agents.organizationId, organizationId), agentId === undefined ? undefined : eq(agents.id, agentId)))
    .orderBy(agents.id);
  const digest = await digestOf(cipher, { organizationId, channel, id });
  const by = { actor: { type: "system", id: null, name: "erasure" }, request: { id: newId(), ip: "" } } as const;
  return { organizationId, agents: found, channel, id, digest, by, signal, held: new Set() };
}

/** Throws `Postponed` while a turn is open that began in the first pass: it may store what the person said in a group. */
async function waitForTurns({ database, clock }: Services, { agents: of }: ErasedPerson, since: string): Promise<void> {
  const ids = of.map(({ id }) => id);
  const [open] = await database.db
    .select({ id: turns.id })
    .from(turns)
    .where(and(isOpen(turns), inArray(turns.agentId, ids), lt(turns.createdAt, sql`${since}::timestamptz`)))
    .limit(1);
  if (open) throw new Postponed("Turns that began before it end", clock.now() + 10_000);
}

/** Tells the end in the audit log, once, with the number of conversations that stay under legal hold. */
async function complete(
  { database }: Services,
  { batch, organizationId }: Payload,
  { by, digest, held }: ErasedPerson,
): Promise<void> {
  await database.transaction(async (tx) => {
    const [organization] = await tx
      .select({ slug: organizations.slug })
      .from(organizations)
      .where(eq(organizations.id, organizationId));
    const [told] = await tx.select({ id: auditLogs.id }).from(auditLogs).where(eq(auditLogs.id, batch));
    if (!organization || told) return;
    const summary = { erasureId: batch, subject: digest, held: held.size };
    await audit(tx, {
      ...by,
      id: batch,
      action: "erasure.complete",
      target: organization.slug,
      summary,
      organizationId,
    });
  });
}
