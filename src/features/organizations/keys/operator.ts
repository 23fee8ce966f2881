import { asc, isNull } from "drizzle-orm";
import { type Services, systemCtx } from "../../../context/ctx.ts";
import { StartError } from "../../../core/errors.ts";
import { organizations } from "../../../db/schema.ts";
import { createManagementKey, deleteManagementKey } from "./service.ts";

/** The key's lifetime, in milliseconds. A command takes minutes at most. */
const lifetimeMs = 60 * 60_000;

/** A management key for one command that this machine's operator runs. */
export interface OperatorKey {
  /** Slug of the key's organization. */
  organization: string;
  key: string;
  revoke(): Promise<void>;
}

/**
 * Issues a management key that nobody sees, so that a command uses the routes, and has the limits, of every other
 * caller. Its name is in the audit log. If the process dies, the key expires within an hour. Throws a `StartError`
 * unless `slug` names the organization or there is only one.
 */
export async function issueOperatorKey(services: Services, name: string, slug?: string): Promise<OperatorKey> {
  const { id: organizationId, slug: organizationSlug } = await findOrganization(services, slug);
  const ctx = systemCtx(services, { organizationId, organizationSlug }, name);
  const expiresAt = new Date(services.clock.now() + lifetimeMs).toISOString();
  const { id, key } = await createManagementKey(ctx, { name, expiresAt });
  return { organization: organizationSlug, key, revoke: () => deleteManagementKey(ctx, id) };
}

async function findOrganization({ database }: Services, slug?: string): Promise<{ id: string; slug: string }> {
  const { id, slug: named, createdAt, deletedAt } = organizations;
  const all = await database.db
    .select({ id, slug: named })
    .from(organizations)
    .where(isNull(deletedAt))
    .orderBy(asc(createdAt), asc(id));
  const [first] = all;
  if (!first) throw new StartError("There is no organization yet: start the server and make its owner first");
  const known = all.map((one) => one.slug).join(", ");
  const found = slug === undefined ? first : all.find((one) => one.slug === slug);
  if (!found) throw new StartError(`There is no organization ${slug}; there are: ${known}`);
  if (slug === undefined && all.length > 1) {
    throw new StartError(`There are several organizations: name one with --organization: ${known}`);
  }
  return found;
}
