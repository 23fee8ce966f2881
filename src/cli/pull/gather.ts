import agent from "../../../schema/agent.schema.json" with { type: "json" };
import skill from "../../../schema/skill.schema.json" with { type: "json" };
import { StartError } from "../../core/errors.ts";
import { dataUrlBytes, imageType } from "../../core/files/image.ts";
import { compare } from "../apply/compare.ts";
import { compareAgents } from "../apply/plan.ts";
import { findWorkspace, readAgentNow, readOutline, readSkillNow } from "../apply/state.ts";
import type { AgentFile } from "../files/read-agent.ts";
import type { FileSet } from "../files/read-set.ts";
import type { SkillFile } from "../files/read-skill.ts";
import type { Target } from "../target/open.ts";
import { renderAgent, renderSkill } from "./render.ts";
import { type FileToWrite, fileName } from "./write.ts";

/** The schemas by which editors check files, by the files' type. They are published with the package. */
export const publishedSchemas: Readonly<Record<string, object>> = { agent, skill };

/** The files for the directory. */
export interface PulledFiles {
  /** Each agent and skill with its files, unless the directory's files are equal to it. */
  things: { noun: string; slug: string; files: FileToWrite[]; earlier: AgentFile | SkillFile | undefined }[];
  /** The slugs of agents and skills to which the directory's files are equal. */
  same: string[];
  schemas: FileToWrite[];
}

/** Reads the agents and skills of the organization or of one workspace, and renders their files. */
export async function gather(target: Target, set: FileSet, workspace: string | undefined): Promise<PulledFiles> {
  const outline = await readOutline(target);
  const chosen = workspace === undefined ? undefined : findWorkspace(outline, workspace);
  const gathered: PulledFiles = { things: [], same: [], schemas: schemaFiles() };
  const used = new Set<string>();
  for (const [slug, workspaceId] of [...outline.agents].sort()) {
    if (chosen && workspaceId !== chosen.id) continue;
    const instance = await readAgentNow(target.api, slug);
    if (instance.slug !== slug) throw new StartError(`The server answers ${slug} under another name`);
    for (const { skillSlug } of instance.skills) used.add(skillSlug);
    const earlier = set.agents.find((one) => one.slug === slug);
    if (earlier && compareAgents(instance, earlier, outline.skills).length === 0) {
      gathered.same.push(slug);
      continue;
    }
    const picture = pictureOf(slug, instance.icon);
    const references = earlier?.references ?? [];
    const content = renderAgent({ instance, versions: outline.skills, icon: picture?.file ?? null, references });
    const files = [{ name: `agents/${fileName(slug, "yaml")}`, content }];
    gathered.things.push({
      noun: "agent",
      slug,
      earlier,
      files: picture ? [...files, { name: `agents/${picture.file}`, content: picture.bytes }] : files,
    });
  }
  for (const slug of [...outline.skills.keys()].sort()) {
    if (chosen && !used.has(slug)) continue;
    const skill = await readSkillNow(target, slug);
    const earlier = set.skills.find((one) => one.slug === slug);
    if (earlier && compare({ ...skill }, { ...earlier.skill }).length === 0) gathered.same.push(slug);
    else {
      const files = [{ name: `skills/${fileName(slug, "yaml")}`, content: renderSkill(skill) }];
      gathered.things.push({ noun: "skill", slug, files, earlier });
    }
  }
  return gathered;
}

const endings = { "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp" } as const;

function pictureOf(slug: string, icon: string | null): { file: string; bytes: Uint8Array } | null {
  const bytes = icon === null ? null : dataUrlBytes(icon);
  const type = bytes && imageType(bytes);
  return bytes && type ? { file: fileName(slug, endings[type]), bytes } : null;
}

/** The schemas that the first line of each file names, for editors. */
function schemaFiles(): FileToWrite[] {
  return Object.entries(publishedSchemas).map(([name, schema]) => ({
    name: `schema/${name}.schema.json`,
    content: `${JSON.stringify(schema, null, 2)}\n`,
  }));
}
