import type { Ctx } from "../../../../context/ctx.ts";
import { notFound } from "../../../../core/errors.ts";
import { pluginPackages } from "../../../../db/schema.ts";
import { touchAgentsOf } from "../../../agents/index.ts";
import { writeOrganization } from "../../../organizations/index.ts";
import { turnedOff } from "../families/of-organization.ts";
import type { PackageSettings, PluginPackage } from "./schema.ts";

/** The installed packages of plugins, by namespace. */
export async function listPackages(ctx: Ctx): Promise<PluginPackage[]> {
  const off = new Set((await turnedOff(ctx.db, ctx.membership.organizationId)).map(({ namespace }) => namespace));
  const namespaces = ctx.plugins.map(({ namespace }) => namespace).sort();
  return namespaces.map((namespace) => ({ namespace, enabled: !off.has(namespace) }));
}

/** Turns a package on or off for the organization's agents, from their next turn on. Throws the 404. */
export async function savePackage(ctx: Ctx, namespace: string, { enabled }: PackageSettings): Promise<PluginPackage> {
  const stored = (await listPackages(ctx)).find((one) => one.namespace === namespace);
  if (!stored) throw notFound("Plugin package");
  const { organizationId } = ctx.membership;
  const change = {
    action: "plugin-package.update",
    target: namespace,
    summary: { enabled },
    unchanged: () => stored.enabled === enabled,
  };
  await writeOrganization(ctx, change, async (tx) => {
    await tx
      .insert(pluginPackages)
      .values({ organizationId, namespace, enabled })
      .onConflictDoUpdate({ target: [pluginPackages.organizationId, pluginPackages.namespace], set: { enabled } });
    await touchAgentsOf(tx, organizationId);
  });
  return { namespace, enabled };
}
