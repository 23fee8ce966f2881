import { Document, isMap, isSeq, Scalar, visit } from "yaml";
import { AgentBundle } from "../../engine.ts";
import { isSame } from "../apply/compare.ts";
import type { SkillContent } from "../files/read-skill.ts";
import { isFields, type Reference } from "../files/references.ts";

type Instance = AgentBundle["instance"];

export interface AgentToRender {
  instance: Instance;
  /** The current versions of skills, by slug. */
  versions: ReadonlyMap<string, string>;
  /** The name of the picture file; null for none. */
  icon: string | null;
  /** The references that the agent's earlier file contains. */
  references: readonly Reference[];
}

const schemaLine = (name: string) => ` yaml-language-server: $schema=../schema/${name}.schema.json`;

/** Renders the file of an agent, without fields that have their default values. */
export function renderAgent({ instance, versions, icon, references }: AgentToRender): string {
  const { slug } = instance;
  const usual: Record<string, unknown> = newAgent(slug);
  const own = Object.entries(withReferences({ ...instance, skills: followCurrent(instance, versions) }, references));
  const kept = own.filter(([field, value]) => alwaysShown.has(field) || !isSame(value, usual[field]));
  const shown = { ...Object.fromEntries(kept), ...(icon === null ? {} : { icon: `./${icon}` }) };
  const document = new Document({ version: "1.3", type: "instance", instance: shown });
  document.commentBefore = schemaLine("agent");
  const secrets = document.getIn(["instance", "secrets"]);
  const [first] = isSeq(secrets) ? secrets.items : [];
  if (isMap(first))
    first.commentBefore = " The values are on the server. To set one from here, add: fromEnv: NAME_OF_A_VARIABLE";
  return textOf(document);
}

const alwaysShown: ReadonlySet<string> = new Set(["slug", "name", "provider", "model", "toolsNeedingApproval"]);

function newAgent(slug: string): Instance {
  return AgentBundle.parse({ version: "1.3", type: "instance", instance: { slug } }).instance;
}

/** Removes the versions of skills where they are the current ones: the agent then follows the catalogue of its files. */
function followCurrent({ skills }: Instance, versions: ReadonlyMap<string, string>) {
  return skills.map(({ pinnedVersion, ...skill }) => {
    const follows = pinnedVersion === null || pinnedVersion === versions.get(skill.skillSlug);
    return follows ? skill : { ...skill, pinnedVersion };
  });
}

type Fields = Record<string, unknown>;

/**
 * Puts each variable's name into its credential's field, and removes fields that only say whether there is a credential.
 */
function withReferences(instance: Fields & { secrets: Instance["secrets"] }, references: readonly Reference[]): Fields {
  const copy = structuredClone<Fields>(instance);
  const secrets = instance.secrets.map(({ key }) => ({ key }));
  copy.secrets = secrets;
  for (const { to, variable } of references) {
    if (to.kind === "secret") place(secrets, "key", to.key, { fromEnv: variable });
    if (to.kind === "eventSource") {
      const source = find(copy.eventSources, "name", to.name);
      if (source) source.authKey = { fromEnv: variable };
    }
    if (to.kind === "channel") {
      const channel = find(copy.channels, "channelType", to.channelType);
      if (isFields(channel?.config)) channel.config[to.field] = { fromEnv: variable };
    }
    if (to.kind === "skillEnv") {
      const entry = find(find(copy.skillEnv, "skillSlug", to.skillSlug)?.env, "key", to.key);
      if (!entry) continue;
      entry.fromEnv = variable;
      delete entry.value;
    }
  }
  return copy;
}

function find(list: unknown, field: string, name: string): Fields | undefined {
  return Array.isArray(list) ? list.filter(isFields).find((entry) => entry[field] === name) : undefined;
}

/** Adds fields to the list entry with this name, or adds an entry for a credential that the server lacks. */
function place(list: Fields[], field: string, name: string, added: Fields): void {
  const entry = find(list, field, name);
  if (entry) Object.assign(entry, added);
  else list.push({ [field]: name, ...added });
}

/** Renders a skill's file, without empty lists. */
export function renderSkill({
  name,
  description,
  category,
  content,
  requiredEnv,
  requiredTools,
  scripts,
}: SkillContent): string {
  const document = new Document({
    type: "skill",
    name,
    description,
    category,
    ...(requiredEnv.length > 0 ? { requiredEnv } : {}),
    ...(requiredTools.length > 0 ? { requiredTools } : {}),
    content,
    ...(scripts.length > 0 ? { scripts } : {}),
  });
  document.commentBefore = schemaLine("skill");
  return textOf(document);
}

/** Renders long texts as blocks, with their lines unchanged. Texts that a block would change are quoted. */
function textOf(document: Document): string {
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value !== "string" || !node.value.includes("\n")) return;
      node.type = fitsBlock(node.value) ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0, blockQuote: "literal" });
}

/**
 * Whether YAML can write the text as a block: the first and last lines are not blank, and it has no line breaks except
 * line feeds.
 */
function fitsBlock(text: string): boolean {
  const lines = text.replace(/\n$/, "").split("\n");
  const isBlank = (line: string | undefined) => line === undefined || line.trim() === "";
  return !isBlank(lines[0]) && !isBlank(lines.at(-1)) && !/[^\P{Cc}\n\t]|[\u2028\u2029\ufeff]/u.test(text);
}
