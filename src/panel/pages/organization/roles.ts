/** The roles, from the least permissions to the most (docs/teams.md). */
export const roles = [
  { value: "viewer", label: "Viewer", hint: "Reads everything, and uses the playground." },
  { value: "member", label: "Member", hint: "Changes agents too: prompts, tools, skills, channels." },
  { value: "admin", label: "Admin", hint: "Also deletes agents, keeps secrets, members, workspaces and plugins." },
  { value: "owner", label: "Owner", hint: "Also changes the organization and issues management keys." },
] as const;

export type Role = (typeof roles)[number]["value"];

/** The roles that a person may give; only those who may change the organization (`org:write`) make Owners. */
export const rolesGivenBy = ({ mayChange }: { mayChange: boolean }) =>
  roles.filter(({ value }) => value !== "owner" || mayChange);

/** Whether a role reaches every workspace. Other roles reach the workspaces to which they are assigned. */
export const reachesAll = (role: string) => role === "owner" || role === "admin";
