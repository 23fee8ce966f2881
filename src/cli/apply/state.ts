import type { AgentEngine } from "../../client/index.ts";
import { StartError } from "../../core/errors.ts";
import { AgentBundle, ImportedSkill } from "../../engine.ts";
import { type SkillContent, usualCategory } from "../files/read-skill.ts";
import type { Target } from "../target/open.ts";

export interface Workspace {
  id: string;
  name: string;
}

/** The organization's current agents, skills and workspaces. */
export interface Outline {
  workspaces: Workspace[];
  /** The agents' workspaces, by the agents' slugs. */
  agents: Map<string, string>;
  /** The current versions of the catalogue's skills, by slug. */
  skills: Map<string, string>;
}

export async function readOutline({ api, organization: orgSlug }: Target): Promise<Outline> {
  const [{ workspaces }, { instances }, { skills }] = [
    await api.listWorkspaces({ orgSlug }),
    await api.listAgents({}),
    await api.listSkills({ orgSlug }),
  ];
  return {
    workspaces: [...workspaces].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1)),
    agents: new Map(instances.map(({ slug, workspaceId }) => [slug, workspaceId])),
    skills: new Map(skills.map(({ slug, version }) => [slug, version])),
  };
}

/** Finds a workspace by its name or id. Throws a `StartError` when there is none. */
export function findWorkspace({ workspaces }: Outline, wanted: string): Workspace {
  const found =
    workspaces.find(({ id }) => id === wanted) ??
    workspaces.find(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  if (found) return found;
  throw new StartError(`There is no workspace ${wanted}; there are: ${workspaces.map(({ name }) => name).join(", ")}`);
}

/** The server's agent. Throws a `StartError` when it has unknown fields, as on a server of another release. */
export async function readAgentNow(api: AgentEngine, slug: string): Promise<AgentBundle["instance"]> {
  return readBundle(slug, await api.exportAgent({ slug }));
}

/**
 * `readAgentNow`, without targets that an earlier release stored unchecked, so that the file's target counts as a
 * change.
 */
export async function readAgentToChange(api: AgentEngine, slug: string): Promise<AgentBundle["instance"]> {
  const bundle: unknown = await api.exportAgent({ slug });
  for (const { path } of AgentBundle.safeParse(bundle).error?.issues ?? []) {
    if (path.at(-1) !== "outboundTarget") continue;
    const owner = path.slice(0, -1).reduce<unknown>((value, key) => Object(value)[key], bundle);
    Object.assign(Object(owner), { outboundChannel: null, outboundTarget: null });
  }
  return readBundle(slug, bundle);
}

function readBundle(slug: string, bundle: unknown): AgentBundle["instance"] {
  const parsed = AgentBundle.safeParse(bundle);
  if (parsed.success) return parsed.data.instance;
  throw otherRelease(`agent ${slug}`, parsed.error.issues);
}

/** The current version of a skill, with its scripts. */
export async function readSkillNow({ api, organization: orgSlug }: Target, slug: string): Promise<SkillContent> {
  const { skills } = await api.exportSkill({ orgSlug, name: slug });
  const parsed = ImportedSkill.safeParse(skills[0]);
  if (!parsed.success) throw otherRelease(`skill ${slug}`, parsed.error.issues);
  const { versions: _history, category = usualCategory, ...content } = parsed.data;
  return { ...content, category };
}

function otherRelease(thing: string, issues: readonly { path: readonly PropertyKey[]; message: string }[]): StartError {
  const first = issues[0];
  const detail = first ? ` (${first.path.join(".")} ${first.message})` : "";
  return new StartError(
    `The server has the ${thing} in a form unknown to this release${detail}: use the server's release`,
  );
}
