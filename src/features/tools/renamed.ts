/** The tools that took the places of those from before plugins (migration 0025). */
const successors: Readonly<Record<string, readonly [string, ...string[]]>> = {
  ghIssue: [
    "github:listIssues",
    "github:getIssue",
    "github:createIssue",
    "github:updateIssue",
    "github:commentOnIssue",
  ],
  ghPR: ["github:listPullRequests", "github:getPullRequest", "github:createPullRequest"],
  gitCloneRepo: ["github:listFiles", "github:getFile"],
  renderService: [
    "render:listServices",
    "render:getService",
    "render:listDeploys",
    "render:getDeploy",
    "render:createDeploy",
  ],
  markdownToPdf: ["markdown-pdf:create"],
  fileUpload: ["files:upload"],
};

/**
 * The tools in the place of one from before plugins, whose name can't be used any more; null for another name. Where only
 * one can be named, it is the first.
 */
export function successorsOf(name: string): readonly [string, ...string[]] | null {
  const [, first, rest] = /^hubspot([A-Z])(\w*)$/.exec(name) ?? [];
  if (first !== undefined) return [`hubspot:${first.toLowerCase()}${rest}`];
  return Object.hasOwn(successors, name) ? (successors[name] ?? null) : null;
}
