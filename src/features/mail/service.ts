import { eq } from "drizzle-orm";
import type { Ctx, Services } from "../../context/ctx.ts";
import { installationLog, write } from "../../context/write.ts";
import { type Changes, changesBetween } from "../../core/changes.ts";
import { EngineError } from "../../core/errors.ts";
import { type Mail, MailError, type MailRelay } from "../../core/mail.ts";
import { withinTime } from "../../core/time/deadline.ts";
import type { Db } from "../../db/client.ts";
import { installation } from "../../db/schema.ts";
import { invalid } from "../../http/errors.ts";
import { mergeRelay, toWire } from "./rules.ts";
import type { NewRelay, Relay, TestResult } from "./schema.ts";

const row = eq(installation.id, 1);
/** The AAD of the sealed relay: the table and the row. */
const place = "installation:1";
/** The longest sending of a mail, in milliseconds. */
const longestMs = 30_000;

/** The relay; null without one. Throws for a sealed one that no key opens. */
export async function readRelay({ cipher }: Pick<Services, "cipher">, db: Db): Promise<MailRelay | null> {
  const { mailRelay: ciphertext, mailRelayKeyId: keyId } = installation;
  const [stored] = await db.select({ ciphertext, keyId }).from(installation).where(row);
  if (!stored?.ciphertext || stored.keyId === null) return null;
  return JSON.parse(await cipher.open({ ciphertext: stored.ciphertext, keyId: stored.keyId }, place));
}

/** Whether mails are sent: the feature is on, and there is a relay. */
export async function sendsMails({ database, options }: Services): Promise<boolean> {
  if (!options.edition.has("administration")) return false;
  const [stored] = await database.db.select({ keyId: installation.mailRelayKeyId }).from(installation).where(row);
  return typeof stored?.keyId === "string";
}

/** Sends a mail within 30 seconds. Rejects with a `MailError`, or with the signal's reason. */
export function sendNow(services: Services, relay: MailRelay, mail: Mail, stop?: AbortSignal): Promise<void> {
  const tooLate = new MailError("The relay did not answer in time");
  return withinTime(services.clock, longestMs, tooLate, (signal) =>
    services.mailer.send(relay, mail, stop ? AbortSignal.any([signal, stop]) : signal),
  );
}

/** The relay, with a masked password. */
export async function showRelay(ctx: Ctx): Promise<Relay | null> {
  const relay = await readRelay(ctx, ctx.db);
  return relay && toWire(relay);
}

const ofInstallation = (ctx: Ctx) => ({ logs: () => installationLog(ctx), agentUnchanged: true });

/** Stores the relay. Throws the 400 for a missing password. */
export async function saveRelay(ctx: Ctx, input: NewRelay): Promise<Relay> {
  const changes: Changes = {};
  const change = { action: "mail-relay.update", target: input.host, changes, ...ofInstallation(ctx) };
  return write(ctx, change, async (tx) => {
    const before = await lockRelay(tx, ctx);
    const merged = mergeRelay(input, before);
    if ("problem" in merged) throw invalid([{ path: ["password"], message: merged.problem }]);
    const { relay } = merged;
    Object.assign(changes, changesOf(before, relay));
    const { ciphertext, keyId } = await ctx.cipher.seal(JSON.stringify(relay), place);
    await tx.update(installation).set({ mailRelay: ciphertext, mailRelayKeyId: keyId }).where(row);
    return toWire(relay);
  });
}

/** Deletes the relay. Throws the 404 without one. */
export async function deleteRelay(ctx: Ctx): Promise<void> {
  await write(ctx, { action: "mail-relay.delete", target: "mail relay", ...ofInstallation(ctx) }, async (tx) => {
    const none = { mailRelay: null, mailRelayKeyId: null };
    const [stored] = await tx
      .select({ keyId: installation.mailRelayKeyId })
      .from(installation)
      .where(row)
      .for("update");
    if (!stored?.keyId) throw new EngineError("not-found", "Mail relay not found");
    await tx.update(installation).set(none).where(row);
  });
}

/** Sends a mail through the stored relay at once. Throws the 409 without a relay. */
export async function testRelay(ctx: Ctx, to: string): Promise<TestResult> {
  const relay = await readRelay(ctx, ctx.db);
  if (!relay) throw new EngineError("conflict", "There is no mail relay: save one first");
  const began = ctx.clock.now();
  const mail = { to, subject: "Test mail", text: "The mail relay of this installation works.\n" };
  const error = await sendNow(ctx, relay, mail).then(
    () => null,
    (reason: unknown) => {
      if (!(reason instanceof MailError)) throw reason;
      return reason.message;
    },
  );
  const result = { ok: error === null, latencyMs: ctx.clock.now() - began, error };
  const summary = { host: relay.host, ...result };
  await write(ctx, { action: "mail-relay.test", target: to, summary, ...ofInstallation(ctx) }, async () => {});
  return result;
}

/** The stored relay with its row locked; null also for one that no key opens, which can then be replaced. */
async function lockRelay(tx: Db, ctx: Ctx): Promise<MailRelay | null> {
  await tx
    .insert(installation)
    .values({ id: 1 })
    .onConflictDoUpdate({ target: installation.id, set: { id: 1 } });
  return readRelay(ctx, tx).catch(() => null);
}

/** The changes for the audit log. Of the password they tell only that it is another one. */
function changesOf(before: MailRelay | null, after: MailRelay): Changes {
  const { password: old = null, ...earlier } = before ?? { password: null };
  const { password, ...later } = after;
  const renewed = old === password ? {} : { password: { from: null, to: "(changed)" } };
  return { ...changesBetween(earlier, later), ...renewed };
}
