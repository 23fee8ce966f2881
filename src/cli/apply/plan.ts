import type { Environment } from "../../core/config.ts";
import { StartError } from "../../core/errors.ts";
import { AgentBundle } from "../../engine.ts";
import type { AgentFile } from "../files/read-agent.ts";
import type { FileSet } from "../files/read-set.ts";
import type { SkillFile } from "../files/read-skill.ts";
import type { Target } from "../target/open.ts";
import { comparable } from "./comparable.ts";
import { compare, type FieldChange } from "./compare.ts";
import { type DueCredential, dueCredentials, readMasks } from "./credentials.ts";
import { findWorkspace, type Outline, readAgentToChange, readOutline, readSkillNow, type Workspace } from "./state.ts";

export type Action = "create" | "update" | "none";

interface SkillStep {
  action: Action;
  file: SkillFile;
  fields: FieldChange[];
}

export interface AgentStep {
  action: Action;
  file: AgentFile;
  fields: FieldChange[];
  /** The workspace of the agent, or for a new agent. */
  workspaceId: string;
  due: DueCredential[];
}

/** The changes to make, in this order. */
export interface Plan {
  skills: SkillStep[];
  /** Skills to allow in a workspace. */
  allowances: { workspace: Workspace; skill: string }[];
  agents: AgentStep[];
  /** Agents and skills that no file names; empty without `--prune`. */
  deletions: { kind: "agent" | "skill"; slug: string }[];
  outline: Outline;
}

interface Options {
  environment: Environment;
  workspace?: string;
  prune: boolean;
}

/** Compares the files with the server. Changes nothing. */
export async function makePlan(
  set: FileSet,
  target: Target,
  { environment, workspace, prune }: Options,
): Promise<Plan> {
  const outline = await readOutline(target);
  const chosen = workspace === undefined ? undefined : findWorkspace(outline, workspace);
  const home = (chosen ?? outline.workspaces[0])?.id ?? "";
  const skills: SkillStep[] = [];
  for (const file of set.skills) skills.push(await planSkill(file, outline, target));
  const versions = new Map(outline.skills);
  for (const { action, file } of skills) if (action !== "none") versions.set(file.slug, "the new one");
  const agents: AgentStep[] = [];
  for (const file of set.agents) agents.push(await planAgent(file, { outline, home, versions, target, environment }));
  return {
    skills,
    allowances: await missingAllowances(agents, { outline, versions, target }),
    agents,
    deletions: prune ? unnamed(set, outline, chosen) : [],
    outline,
  };
}

/** Whether a plan changes anything. */
export function isEmpty({ skills, allowances, agents, deletions }: Plan): boolean {
  const steps = [...skills, ...agents].filter(({ action }) => action !== "none");
  return steps.length + allowances.length + deletions.length === 0;
}

/** Plans a skill. Throws a `StartError` when its name differs from the server's: names never change. */
async function planSkill(file: SkillFile, outline: Outline, target: Target): Promise<SkillStep> {
  const { slug, place, skill } = file;
  if (!outline.skills.has(slug)) return { action: "create", file, fields: compare(emptySkill, { ...skill }) };
  const now = await readSkillNow(target, slug);
  if (now.name !== skill.name) {
    throw new StartError(
      `${place}: The skill ${slug} has the name "${now.name}" on the server, and keeps it: use that`,
    );
  }
  const fields = compare({ ...now }, { ...skill });
  return { action: fields.length > 0 ? "update" : "none", file, fields };
}

const emptySkill = { category: "general", requiredEnv: [], requiredTools: [], scripts: [] };

interface ServerState {
  outline: Outline;
  /** The workspace of new agents. */
  home: string;
  versions: ReadonlyMap<string, string>;
  target: Target;
  environment: Environment;
}

async function planAgent(
  file: AgentFile,
  { outline, home, versions, target, environment }: ServerState,
): Promise<AgentStep> {
  const workspaceId = outline.agents.get(file.slug);
  const now = workspaceId === undefined ? null : await readAgentToChange(target.api, file.slug);
  const masks = now ? await readMasks(target.api, file) : new Map();
  const due = dueCredentials(file, now, masks, environment);
  const fields = [...compareAgents(now, file, versions), ...due.map(({ change }) => change)];
  const step = { file, fields, due, workspaceId: workspaceId ?? home };
  if (!now) return { ...step, action: "create" };
  return { ...step, action: fields.length > 0 ? "update" : "none" };
}

/** The differences between an agent and its file. A new agent is compared with an empty one of its slug. */
export function compareAgents(
  now: AgentBundle["instance"] | null,
  { slug, instance }: AgentFile,
  versions: ReadonlyMap<string, string>,
): FieldChange[] {
  const before = comparable(now ?? newAgent(slug));
  const wanted = comparable(instance);
  const after = {
    ...wanted,
    skills: wanted.skills.map((skill) => {
      if (skill.pinnedVersion !== null) return skill;
      const now = before.skills.find(({ skillSlug }) => skillSlug === skill.skillSlug);
      // For a disabled skill, the version does not matter.
      const pinnedVersion = skill.enabled ? versions.get(skill.skillSlug) : now?.pinnedVersion;
      return { ...skill, pinnedVersion: pinnedVersion ?? null };
    }),
    skillEnv: wanted.skillEnv.map(({ skillSlug, env }) => {
      const now = before.skillEnv.find((one) => one.skillSlug === skillSlug)?.env ?? [];
      // A value can be compared only with its environment variable, which may be missing in a dry run.
      const known = env.map((entry) =>
        entry.value === undefined ? (now.find(({ key }) => key === entry.key) ?? entry) : entry,
      );
      return { skillSlug, env: known };
    }),
    channels: wanted.channels.map((channel, index) => {
      // Without a mode in the file, the server keeps the stored one.
      const mode = { ...before.channels[index]?.config }.mode;
      return mode === undefined ? channel : { ...channel, config: { mode, ...channel.config } };
    }),
  };
  return compare({ ...before }, after);
}

function newAgent(slug: string): AgentBundle["instance"] {
  return AgentBundle.parse({ version: "1.3", type: "instance", instance: { slug } }).instance;
}

/** The workspaces where an agent's file enables a skill that the workspace may not use. */
async function missingAllowances(
  agents: readonly AgentStep[],
  {
    outline: { workspaces },
    versions,
    target: { api, organization: orgSlug },
  }: Omit<ServerState, "home" | "environment">,
): Promise<Plan["allowances"]> {
  const missing: Plan["allowances"] = [];
  for (const workspace of workspaces) {
    const own = agents.filter(({ workspaceId }) => workspaceId === workspace.id);
    const used = own.flatMap(({ file }) => file.instance.skills.filter(({ enabled }) => enabled));
    // The import itself warns of a skill that does not exist.
    const slugs = new Set(used.map(({ skillSlug }) => skillSlug).filter((skill) => versions.has(skill)));
    if (slugs.size === 0) continue;
    const allowed = await api.listAllowedSkills({ orgSlug, workspaceId: workspace.id });
    for (const skill of [...slugs].sort()) {
      if (!allowed.skills.includes(skill)) missing.push({ workspace, skill });
    }
  }
  return missing;
}

/** The agents and skills that no file names. With a given workspace, only the agents of that workspace. */
function unnamed(set: FileSet, { agents, skills }: Outline, workspace: Workspace | undefined): Plan["deletions"] {
  const named = {
    agents: new Set(set.agents.map(({ slug }) => slug)),
    // The skills that agents use, including those that only the server has.
    skills: new Set([
      ...set.skills.map(({ slug }) => slug),
      ...set.agents.flatMap(({ instance }) => instance.skills.map(({ skillSlug }) => skillSlug)),
    ]),
  };
  const ours = [...agents].filter(([slug, id]) => !named.agents.has(slug) && (!workspace || id === workspace.id));
  const shared = workspace ? [] : [...skills.keys()].filter((slug) => !named.skills.has(slug));
  return [
    ...ours.map(([slug]) => ({ kind: "agent", slug }) as const),
    ...shared.map((slug) => ({ kind: "skill", slug }) as const),
  ];
}
