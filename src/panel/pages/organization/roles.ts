/** The roles, from the least to the most (docs/teams.md). */
export const roles = [
  { value: "viewer", label: "Viewer", hint: "Reads everything, and uses the playground." },
  { value: "member", label: "Member", hint: "Changes agents too: prompts, tools, skills, channels." },
  { value: "admin", label: "Admin", hint: "Also deletes agents, keeps secrets, members, workspaces and plugins." },
  { value: "owner", label: "Owner", hint: "Also changes the organization and issues management keys." },
] as const;

export type Role = (typeof roles)[number]["value"];

/** The roles that somebody with a role may give; Owners alone make Owners. */
export const rolesGivenBy = (role: string | undefined) =>
  roles.filter(({ value }) => value !== "owner" || role === "owner");

/** Owners and Admins reach every workspace; the others those that they were given. */
export const reachesAll = (role: string) => role === "owner" || role === "admin";
