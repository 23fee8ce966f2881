import type { Scripts } from "../../../core/ports.ts";
import { scrubber } from "../../../core/scrub/scrub.ts";
import type { JsonValue, Tool } from "../../../turn/types.ts";
import {
  type FillingRoom,
  fillingRoom,
  type Placeholder,
  Placeholders,
  readSkill,
  runSkillScript,
} from "../../tools/index.ts";
import type { LoadedEnv } from "../env/load.ts";
import type { LoadedSkill } from "./load.ts";

/** The placeholder shown to models for a sensitive value (spec "Skill environment variable"). */
const placeholderText = (skill: string, key: string) => `{{skill_env.${skill}.${key}}}`;

/** The sensitive ones among these values, which are filled in and scrubbed. */
export function skillPlaceholders(env: readonly LoadedEnv[]): Placeholder[] {
  return env
    .filter(({ sensitive }) => sensitive)
    .map(({ skill, key, value, bounds }) => ({ text: placeholderText(skill, key), value, bounds }));
}

/** The list of skills in the prompt. Auto-loaded skills have their whole text. Empty without skills. */
export function skillsList(skills: readonly LoadedSkill[]): string {
  if (skills.length === 0) return "";
  const listed = skills.map((skill) => {
    const problem = problemOf(skill);
    return `- ${skill.slug}: ${skill.description}${problem ? ` (unavailable: ${problem})` : ""}`;
  });
  const room = fillingRoom();
  const loaded = skills
    .filter((skill) => skill.autoLoad && problemOf(skill) === null)
    .map((skill) => `## Skill ${skill.slug}\n\n${body(skill, room)}${settingsText(skill)}`);
  return [listed.join("\n"), ...loaded].join("\n\n");
}

/**
 * The tools `readSkill` and `runSkillScript` of an agent. `owner` is its organization, for its share of the slots for
 * scripts.
 */
export function skillTools(skills: readonly LoadedSkill[], owner: string, scripts: Scripts): Tool[] {
  const read = readSkill.implement(async ({ skill: name }) => {
    const skill = find(skills, name);
    return {
      name: skill.name,
      version: skill.version,
      instructions: body(skill),
      settings: settings(skill),
      scripts: skill.scripts.map(({ file, description }) => ({ file, description })),
    };
  });
  const run = runSkillScript.implement(async ({ skill: name, file, args = {} }, { signal }) => {
    const skill = find(skills, name);
    const script = skill.scripts.find((candidate) => candidate.file === file);
    if (!script) throw new Error(`The skill ${skill.slug} has no script ${file}${among(skill.scripts.map(fileOf))}`);
    // Only the values of this skill, since a script can transform them in any way.
    const placeholders = skillPlaceholders(skill.env);
    const ran = await scripts.run({
      file,
      content: script.content,
      modules: Object.fromEntries(skill.scripts.map((other) => [other.file, other.content])),
      args: new Placeholders(placeholders).fillJson(args as JsonValue, null),
      owner,
      signal,
    });
    const output = new ScriptOutput(placeholders.map(({ value }) => value));
    const logs = output.logs(ran.logs);
    if (ran.ok) return { result: ran.result, logs };
    throw new Error([output.error(ran.error), ...(logs.length > 0 ? ["It logged:", ...logs] : [])].join("\n"));
  });
  return [read, { ...run, textOf: resultOf }];
}

/** The result of a script if it is a text, else null. */
function resultOf(ran: JsonValue): string | null {
  const result = (ran as { result?: JsonValue }).result;
  return typeof result === "string" ? result : null;
}

const fileOf = ({ file }: { file: string }) => file;

function find(skills: readonly LoadedSkill[], name: string): LoadedSkill {
  const wanted = name.trim().toLowerCase();
  const skill = skills.find(({ slug, name: shown }) => slug === wanted || shown.toLowerCase() === wanted);
  if (!skill) throw new Error(`There is no skill ${name}${among(skills.map(({ slug }) => slug))}`);
  const problem = problemOf(skill);
  if (problem) throw new Error(`The skill ${skill.slug} is unavailable: ${problem}`);
  return skill;
}

const among = (names: readonly string[]) => (names.length === 0 ? "" : `; there are: ${names.join(", ")}`);

/** Why a skill can't be used now; null when it can. */
function problemOf({ missingEnv, missingTools }: LoadedSkill): string | null {
  const problems = [
    ...(missingEnv.length > 0 ? [`it lacks a value for ${missingEnv.join(", ")}`] : []),
    ...(missingTools.length > 0 ? [`it needs ${missingTools.join(", ")}`] : []),
  ];
  return problems.length === 0 ? null : problems.join("; ");
}

/** The value as models see it. */
const shown = ({ skill, key, value, sensitive }: LoadedEnv) => (sensitive ? placeholderText(skill, key) : value);

function settings({ env }: LoadedSkill): Record<string, string> {
  return Object.fromEntries(env.map((entry) => [entry.key, shown(entry)]));
}

function settingsText(skill: LoadedSkill): string {
  const lines = Object.entries(settings(skill)).map(([key, value]) => `- ${key}: ${value}`);
  return lines.length === 0 ? "" : `\n\nSettings:\n\n${lines.join("\n")}`;
}

/** The instructions, with non-sensitive values filled in. */
function body({ slug, content, env }: LoadedSkill, room?: FillingRoom): string {
  const open = env.filter(({ sensitive }) => !sensitive);
  const values = open.map(({ key, value }) => ({ text: placeholderText(slug, key), value, bounds: [] }));
  return new Placeholders(values).fill(content, null, room && { room });
}

/** In characters: less than the sandbox's own limits for an error and for a log, so a shorter text was not cut. */
const wholeUntil = 8_000;

/**
 * The error and the logs of a script. A text that was cut, by the sandbox or by this class, may end with the beginning
 * of a secret. No scrubber finds that, so it is removed.
 */
export class ScriptOutput {
  readonly #values: readonly string[];

  constructor(values: readonly string[]) {
    this.#values = values;
  }

  /** The first 8,000 characters of an error. */
  error(text: string): string {
    return text.length <= wholeUntil ? text : this.#cut(text.slice(0, wholeUntil));
  }

  /** The logs. If they were cut, the last text may be incomplete, and a note may come after it. */
  logs(texts: readonly string[]): string[] {
    const long = texts.reduce((sum, { length }) => sum + length, 0) > wholeUntil;
    return texts.map((text, index) => (long && index >= texts.length - 2 ? this.#cut(text) : text));
  }

  #cut(text: string): string {
    return scrubber(this.#values).stream().push(text).toWellFormed();
  }
}
