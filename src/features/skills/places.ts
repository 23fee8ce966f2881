import { eq } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import type { Db } from "../../db/client.ts";
import { skills } from "../../db/schema.ts";
import { mostSkills } from "./rules.ts";

/**
 * Throws the 409 of an organization that has no place for so many more skills. Call it in a transaction of
 * `writeOrganization`, before they are stored.
 */
export async function requirePlaces(tx: Db, { membership }: Pick<Ctx, "membership">, more: number): Promise<void> {
  if (more === 0) return;
  const there = await tx.$count(skills, eq(skills.organizationId, membership.organizationId));
  if (there + more <= mostSkills) return;
  throw new EngineError("conflict", `An organization has at most ${mostSkills} skills: delete some first`);
}
