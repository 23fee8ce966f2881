import type { Environment } from "../../core/config.ts";
import { type FileDocument, readDocuments } from "./documents.ts";
import type { Problem } from "./problem.ts";
import { type AgentFile, readAgent, type Surroundings } from "./read-agent.ts";
import { readFiles, type SourceFile } from "./read-files.ts";
import { readSkill, type SkillFile } from "./read-skill.ts";
import { isFields } from "./references.ts";

/** The whole content of a directory or file. */
export interface FileSet {
  agents: AgentFile[];
  skills: SkillFile[];
  /** Whether a directory was given, and not a single file. */
  wholeDirectory: boolean;
}

/**
 * Reads and checks all files before anything is changed. Throws a `UsageError` for a missing directory or file; returns
 * all other problems at once.
 */
export async function readSet(
  target: string,
  environment: Environment,
): Promise<{ set: FileSet; problems: Problem[] }> {
  const { root, files, wholeDirectory, problems } = await readFiles(target);
  const set: FileSet = { agents: [], skills: [], wholeDirectory };
  for (const file of files) problems.push(...(await readOne(file, set, { root, path: file.path, environment })));
  problems.push(...named(set.agents, "agent"), ...named(set.skills, "skill"));
  if (set.agents.length + set.skills.length + problems.length === 0) {
    problems.push({
      place: target,
      message: "No file holds an agent or a skill: they are agents/*.yaml and skills/*.yaml",
    });
  }
  set.agents.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  set.skills.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  return { set, problems };
}

async function readOne({ name, text }: SourceFile, set: FileSet, surroundings: Surroundings): Promise<Problem[]> {
  const { documents, problems } = readDocuments(name, text);
  for (const document of documents) problems.push(...(await readDocument(document, set, surroundings)));
  return problems;
}

async function readDocument(document: FileDocument, set: FileSet, surroundings: Surroundings): Promise<Problem[]> {
  const { value } = document;
  if (isFields(value) && value.type === "instance") {
    const { agent, problems } = await readAgent(document, value, surroundings);
    if (agent) set.agents.push(agent);
    return problems;
  }
  if (isFields(value) && value.type === "skill") {
    const { skill, problems } = readSkill(document, value);
    if (skill) set.skills.push(skill);
    return problems;
  }
  return [{ place: document.placeOf(["type"]), message: "`type` must be instance, for an agent, or skill" }];
}

/** The problems of agents or skills that are named twice. */
function named(things: readonly { slug: string; place: string }[], noun: string): Problem[] {
  const first = new Map<string, string>();
  return things.flatMap(({ slug, place }) => {
    const earlier = first.get(slug);
    if (earlier === undefined) first.set(slug, place);
    return earlier === undefined ? [] : [{ place, message: `The ${noun} ${slug} is at ${earlier} too` }];
  });
}
