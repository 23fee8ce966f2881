import { eq } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { write } from "../../context/write.ts";
import type { Changes } from "../../core/changes.ts";
import { notFound } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { users } from "../../db/schema.ts";
import { lockInstallation, organizationsOf } from "../account/index.ts";
import { accountColumns, findUser } from "./find.ts";

interface UserChange {
  action: string;
  summary?: Record<string, unknown>;
  changes?: Changes;
}

/** An account with the columns that a change reads under its lock. */
export type Account = Pick<typeof users.$inferSelect, keyof typeof accountColumns>;

/**
 * Changes an account under its lock, with an entry in the installation's log and in those of the user's organizations.
 * Throws the 404.
 */
export async function writeUser(
  ctx: Ctx,
  id: string,
  { summary = {}, ...change }: UserChange,
  fn: (tx: Db, user: Account) => Promise<void>,
): Promise<void> {
  const { id: userId, email: target } = await findUser(ctx.db, id);
  Object.assign(summary, { userId });
  let logs = [null] as (string | null)[];
  // The installation first, since a change of a Platform Admin waits for other ones.
  const options = { lock: lockInstallation, logs: () => logs, agentUnchanged: true };
  await write(ctx, { ...change, ...options, target, summary }, async (tx) => {
    const [user] = await tx.select(accountColumns).from(users).where(eq(users.id, userId)).for("update");
    if (!user) throw notFound("User");
    logs = await logsOf(tx, userId);
    await fn(tx, user);
  });
}

/** The logs that show what is done to an account: the installation's, and those of the user's organizations. */
export async function logsOf(db: Db, userId: string): Promise<[null, ...string[]]> {
  return [null, ...(await organizationsOf(db, userId))];
}
