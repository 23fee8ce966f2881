import { api } from "../../data/api.ts";
import { hasFeature } from "../../data/session.ts";
import { builtInRoles, type RoleChoice } from "./role-choices.ts";

/** The roles of an organization: the built-in ones, and with the feature its own. */
export async function readRoles(slug: string): Promise<readonly RoleChoice[]> {
  if (!hasFeature("administration")) return builtInRoles;
  const { roles } = await api.listRoles({ orgSlug: slug });
  const own = roles
    .filter(({ builtin }) => !builtin)
    .map(({ key, name, permissions, allWorkspaces }) => ({
      value: key,
      label: name,
      reachesAll: allWorkspaces,
      permissions,
    }));
  return [...builtInRoles, ...own];
}
