import type { AgentEngine } from "../../client/index.ts";
import type { ImportWarning } from "../../core/bundle.ts";
import type { Environment } from "../../core/config.ts";
import { StartError } from "../../core/errors.ts";
import type { AgentFile } from "../files/read-agent.ts";
import type { Target } from "../target/open.ts";
import type { FieldChange } from "./compare.ts";
import { storeCredentials } from "./credentials.ts";
import { type AgentStep, compareAgents, type Plan } from "./plan.ts";
import { readAgentToChange, readOutline } from "./state.ts";

/** One finished step. */
interface FinishedStep {
  kind: "agent" | "skill" | "allowance";
  slug: string;
  action: "created" | "updated" | "deleted" | "allowed";
}

interface Warning {
  slug: string;
  type: ImportWarning["type"];
  message: string;
}

/** The finished steps. */
export interface Progress {
  done: FinishedStep[];
  /** The agent that was imported and whose credentials are being stored. */
  imported: string | null;
  warnings: Warning[];
  /** The fields that the server did not apply, by agent. */
  left: { slug: string; fields: FieldChange[] }[];
}

interface Work {
  target: Target;
  environment: Environment;
  progress: Progress;
  /** Called when a step is done. */
  onDone(done: FinishedStep): void;
}

/**
 * Carries out a plan in its order, and notes the finished steps in `progress`. A step is done as a whole or not at all;
 * the first one that fails rejects.
 */
export async function act(plan: Plan, work: Work): Promise<void> {
  const { target, progress, onDone } = work;
  const { api, organization: orgSlug } = target;
  const note = (done: FinishedStep) => {
    progress.done.push(done);
    onDone(done);
  };
  for (const { action, file } of plan.skills) {
    if (action === "none") continue;
    await api.importSkills({ orgSlug, body: asBody({ skills: [file.skill] }) });
    note({ kind: "skill", slug: file.slug, action: action === "create" ? "created" : "updated" });
  }
  for (const { workspace, skill } of plan.allowances) {
    await api.allowSkill({ orgSlug, workspaceId: workspace.id, name: skill });
    note({ kind: "allowance", slug: skill, action: "allowed" });
  }
  for (const step of plan.agents) {
    await applyAgent(step, work);
    if (step.action === "none") continue;
    note({ kind: "agent", slug: step.file.slug, action: step.action === "create" ? "created" : "updated" });
  }
  await settle(plan, work);
  for (const { kind, slug } of plan.deletions) {
    if (kind === "agent") await api.deleteAgent({ slug });
    else await api.deleteSkill({ orgSlug, name: slug });
    note({ kind, slug, action: "deleted" });
  }
}

/** Imports a changed agent, and stores its credentials; the server ignores those that are unchanged. */
async function applyAgent({ action, file, due, workspaceId }: AgentStep, work: Work): Promise<void> {
  const { target, environment } = work;
  const { api } = target;
  const { slug, bundle } = file;
  const warnings: ImportWarning[] = [];
  if (action === "create") warnings.push(...(await create(api, file, workspaceId)));
  if (action === "update") warnings.push(...(await api.replaceAgent({ slug, body: asBody(bundle) })).warnings);
  if (action !== "none") work.progress.imported = slug;
  await storeCredentials(api, file, due, environment);
  work.progress.imported = null;
  noteWarnings(
    work.progress,
    slug,
    warnings.filter((warning) => !isSettled(warning, file)),
  );
}

/** Notes the warnings of an agent's last import. */
function noteWarnings(progress: Progress, slug: string, warnings: readonly ImportWarning[]): void {
  const others = progress.warnings.filter((one) => one.slug !== slug);
  progress.warnings = [...others, ...warnings.map(({ type, message }) => ({ slug, type, message }))];
}

const ofCredentials: ReadonlySet<ImportWarning["type"]> = new Set(["secret_missing", "channel_credentials_missing"]);

/** Whether the next step stores the credential to which an import's warning refers. */
function isSettled({ type, path }: ImportWarning, { references }: AgentFile): boolean {
  return ofCredentials.has(type) && references.some((one) => `${one.path.join(".")}.`.startsWith(`${path}.`));
}

/**
 * Creates the agent under its own slug. If another organization has the slug, or somebody has just taken it, the server
 * chooses another one. Returns the import's warnings.
 */
async function create(
  api: AgentEngine,
  { slug, bundle }: AgentFile,
  workspaceId: string,
): Promise<readonly ImportWarning[]> {
  const made = await api.importAgent({ workspaceId, body: asBody(bundle) });
  if (made.slug === slug) return made.warnings;
  await api.deleteAgent({ slug: made.slug });
  const { instances } = await api.listAgents({});
  if (instances.some((agent) => agent.slug === slug)) {
    throw new StartError(`Somebody else made the agent ${slug} meanwhile`);
  }
  throw new StartError(`The slug ${slug} is taken by an agent of this installation that the key does not reach`);
}

/**
 * Imports the agents again that still differ from their files. An import may have needed something that a later step
 * created, such as another agent, or a key without which a channel stays off. Notes the differences that are left.
 */
async function settle({ agents }: Plan, { target, progress }: Work): Promise<void> {
  const touched = agents.filter(({ action }) => action !== "none");
  if (touched.length === 0) return;
  const { skills: versions } = await readOutline(target);
  for (const { file } of touched) {
    const differences = async () => compareAgents(await readAgentToChange(target.api, file.slug), file, versions);
    if ((await differences()).length === 0) continue;
    const { warnings } = await target.api.replaceAgent({ slug: file.slug, body: asBody(file.bundle) });
    const fields = await differences();
    if (fields.length > 0) progress.left.push({ slug: file.slug, fields });
    noteWarnings(progress, file.slug, warnings);
  }
}

/** A value that was checked against the server's own schema. The client's type only spells it differently. */
const asBody = <Body>(checked: unknown) => checked as Body;
