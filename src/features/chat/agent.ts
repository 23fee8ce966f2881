import { and, eq, sql } from "drizzle-orm";
import type { Services } from "../../context.ts";
import { digest, toHex } from "../../core/ids.ts";
import type { CurrentPolicies } from "../../core/policies.ts";
import { type Scrub, scrubber } from "../../core/scrub.ts";
import { agents, channels, organizations, secrets } from "../../db/schema.ts";
import { openWebConfig, type WebConfig } from "../channels/index.ts";
import { openSecrets } from "../secrets/index.ts";
import { slugPattern } from "./schema.ts";

export type AgentRow = typeof agents.$inferSelect;

/** An agent as a turn needs it: decrypted, read once, true until its revision changes. */
export interface LiveAgent {
  row: AgentRow;
  organizationSlug: string;
  /** The only one whose agents may use the environment's keys under the policy `environmentKeys: first-organization`. */
  inFirstOrganization: boolean;
  /** Not part of what is cached: each turn reads them anew. */
  policies: CurrentPolicies;
  secrets: ReadonlyMap<string, string>;
  web: WebConfig & { enabled: boolean };
  system: string;
  /** Of everything that shapes the prompt. */
  fingerprint: string;
  scrub: Scrub;
}

const firstOrganization = sql.raw("select id from organizations order by created_at, id limit 1");

/** Reads an agent by its slug; null when there is none. */
export async function loadAgent(services: Services, slug: string): Promise<LiveAgent | null> {
  if (!slugPattern.test(slug)) return null;
  const { database, cipher, options, policies } = services;
  const [found] = await database.db
    .select({
      row: agents,
      organizationSlug: organizations.slug,
      inFirstOrganization: sql<boolean>`${organizations.id} = (${firstOrganization})`,
      web: channels,
    })
    .from(agents)
    .innerJoin(organizations, eq(organizations.id, agents.organizationId))
    .leftJoin(channels, and(eq(channels.agentId, agents.id), eq(channels.type, "web")))
    .where(eq(agents.slug, slug));
  if (!found) return null;

  const { row, organizationSlug, inFirstOrganization, web } = found;
  const rows = await database.db.select().from(secrets).where(eq(secrets.agentId, row.id));
  const opened = await openSecrets(cipher, row.id, rows);
  const system = systemPrompt(row);
  return {
    row,
    organizationSlug,
    inFirstOrganization,
    policies,
    secrets: opened,
    web: { ...(await openWebConfig(cipher, row.id, web)), enabled: web?.enabled ?? false },
    system,
    fingerprint: toHex(await digest(system)).slice(0, 16),
    scrub: scrubber([...opened.values(), ...options.environmentKeys.values()]),
  };
}

function systemPrompt({ name, description }: AgentRow): string {
  return [`You are ${name}, an assistant.`, description].filter((line) => line !== "").join("\n");
}
