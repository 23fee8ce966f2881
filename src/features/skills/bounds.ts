import { eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { skills, skillVersions } from "../../db/schema.ts";
import { mostBytes, mostSkills, mostStoredBytes } from "./rules.ts";

/**
 * Runs a change of the catalogue, in a transaction of `writeOrganization`. Throws the 409 when a limit is exceeded by
 * more than before.
 */
export async function withinBounds(tx: Db, ctx: Pick<Ctx, "membership">, change: () => Promise<void>): Promise<void> {
  const before = await measure(tx, ctx);
  await change();
  const now = await measure(tx, ctx);
  if (now.count > Math.max(mostSkills, before.count)) {
    throw new EngineError("conflict", `An organization has at most ${mostSkills} skills: delete some first`);
  }
  if (now.bytes > Math.max(mostBytes, before.bytes)) {
    throw new EngineError(
      "conflict",
      `An organization's skills have at most ${inMiB(mostBytes)} of content and requirements in all: shorten or delete some first`,
    );
  }
  if (now.stored > Math.max(mostStoredBytes, before.stored)) {
    throw new EngineError(
      "conflict",
      `An organization's skills have at most ${inMiB(mostStoredBytes)} in the database with the scripts of all versions: delete one, and import its export without the oldest versions if you need it`,
    );
  }
}

const inMiB = (bytes: number) => `${bytes / 1024 / 1024} MiB`;

interface CatalogueSize {
  count: number;
  /** The bytes of the fields that lists show. */
  bytes: number;
  /** The bytes of all versions, compressed as in the database. */
  stored: number;
}

/** The number and the size of an organization's skills. */
async function measure(tx: Db, { membership }: Pick<Ctx, "membership">): Promise<CatalogueSize> {
  const { description, content, requiredEnv, requiredTools, scripts, changelog } = skillVersions;
  const shown = sql`octet_length(${description}) + octet_length(${content}) + octet_length(${requiredEnv}::text)
    + octet_length(${requiredTools}::text)`;
  const size = sql`pg_column_size(${description})::bigint + pg_column_size(${content}) + pg_column_size(${requiredEnv})
    + pg_column_size(${requiredTools}) + pg_column_size(${scripts}) + coalesce(pg_column_size(${changelog}), 0)`;
  const isCurrent = eq(skillVersions.id, skills.currentVersionId);
  const [found] = await tx
    .select({
      count: sql<number>`(count(*) filter (where ${isCurrent}))::int`,
      bytes: sql<number>`coalesce(sum(${shown}) filter (where ${isCurrent}), 0)::float8`,
      stored: sql<number>`coalesce(sum(${size}), 0)::float8`,
    })
    .from(skills)
    .innerJoin(skillVersions, eq(skillVersions.skillId, skills.id))
    .where(eq(skills.organizationId, membership.organizationId));
  return found ?? { count: 0, bytes: 0, stored: 0 };
}
