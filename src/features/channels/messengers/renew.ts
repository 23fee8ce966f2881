import { and, eq, isNull } from "drizzle-orm";
import { publicAddress, type Services, systemCtx } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import { agents, channels, organizations } from "../../../db/schema.ts";
import { loadPolicies } from "../../installation/index.ts";
import { isChannel, openConfig, withError } from "../row.ts";
import type { StoredFields } from "./rules.ts";
import { saveMessenger } from "./service.ts";

/**
 * Saves bots from before release 1.2.0 that have no webhook secret (migration 0025): the save makes a secret and
 * registers it at Telegram. A bot that can't be saved, for example because two agents have it, is marked as failing.
 */
export async function renewBots(services: Services): Promise<void> {
  const bots = await findBots(services);
  // Needed here: other features load the policies only later in the start.
  if (bots.length > 0) await loadPolicies(services);
  for (const { agentId, slug, ...organization } of bots) {
    const ctx = systemCtx(services, organization, "upgrade");
    await saveMessenger(ctx, slug, "telegram", { config: {} }).catch(async (error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
      services.log.warn({ agent: slug, channel: "telegram", reason: error.message }, "A channel did not start");
      const failing = {
        status: "failing",
        registeredAddress: publicAddress(services),
        ...withError(error.message, services.clock.now()),
      };
      await services.database.db.update(channels).set(failing).where(isChannel(agentId, "telegram"));
    });
  }
}

/** The enabled bots without a webhook secret that should be started. */
async function findBots({ database, cipher, log }: Services) {
  const rows = await database.db
    .select({
      agentId: agents.id,
      slug: agents.slug,
      organizationId: organizations.id,
      organizationSlug: organizations.slug,
      row: { keyId: channels.keyId, config: channels.config },
    })
    .from(channels)
    .innerJoin(agents, eq(agents.id, channels.agentId))
    .innerJoin(organizations, eq(organizations.id, agents.organizationId))
    .where(and(eq(channels.type, "telegram"), eq(channels.enabled, true), isNull(channels.registeredAddress)))
    .orderBy(agents.slug);
  const bots = rows.map(async ({ row, ...bot }) => {
    const fields = await openConfig<StoredFields>(cipher, bot.agentId, "telegram", row).catch(() => null);
    if (fields === null) log.warn({ agent: bot.slug }, "The configuration of a bot does not open");
    return fields === null || fields.webhookSecret !== undefined ? [] : bot;
  });
  return (await Promise.all(bots)).flat();
}
