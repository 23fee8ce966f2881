import { eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { skills, skillVersions } from "../../db/schema.ts";
import { mostBytes, mostSkills } from "./rules.ts";

/**
 * Makes a change of the catalogue, in a transaction of `writeOrganization`. Throws the 409 of a list that is longer than
 * it may be, unless it was longer before.
 */
export async function withinBounds(tx: Db, ctx: Pick<Ctx, "membership">, change: () => Promise<void>): Promise<void> {
  const before = await measure(tx, ctx);
  await change();
  const now = await measure(tx, ctx);
  if (now.count > Math.max(mostSkills, before.count)) {
    throw new EngineError("conflict", `An organization has at most ${mostSkills} skills: delete some first`);
  }
  if (now.bytes > Math.max(mostBytes, before.bytes)) {
    const megabytes = mostBytes / 1024 / 1024;
    throw new EngineError(
      "conflict",
      `An organization's skills have at most ${megabytes} MiB of content and requirements in all: shorten or delete some first`,
    );
  }
}

/** The skills of the organization, and the bytes of what the list shows of them. */
async function measure(tx: Db, { membership }: Pick<Ctx, "membership">): Promise<{ count: number; bytes: number }> {
  const { description, content, requiredEnv, requiredTools } = skillVersions;
  const shown = sql`octet_length(${description}) + octet_length(${content}) + octet_length(${requiredEnv}::text)
    + octet_length(${requiredTools}::text)`;
  const [found] = await tx
    .select({ count: sql<number>`count(*)::int`, bytes: sql<number>`coalesce(sum(${shown}), 0)::float8` })
    .from(skills)
    .innerJoin(skillVersions, eq(skillVersions.id, skills.currentVersionId))
    .where(eq(skills.organizationId, membership.organizationId));
  return found ?? { count: 0, bytes: 0 };
}
