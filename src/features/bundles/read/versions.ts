import { isObject, type JsonObject, type JsonValue } from "../../../core/json.ts";
import { successorsOf } from "../../tools/index.ts";

/** The formats that an import reads. */
export const readVersions = ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5"] as const;
export type ReadVersion = (typeof readVersions)[number];

/** The format of a bundle, also when YAML read it as a number; null for an unknown one. */
export function versionOf(sent: unknown): ReadVersion | null {
  const named = typeof sent === "number" ? sent.toFixed(1) : sent;
  return readVersions.find((version) => version === named) ?? null;
}

/** Whether the format is older than the switch of Web, so that Web is on (spec "Versioning" 5). */
export const isBeforeWebSwitch = (version: ReadVersion) => version !== "1.3" && version !== "1.5";

/** Converts an instance to format 1.3, step by step. Invalid parts stay unchanged, and the schema of 1.3 reports them. */
export function convert(version: ReadVersion, instance: JsonObject): JsonObject {
  const steps = stepsFrom[version].reduce((converted, step) => step(converted), instance);
  return isBeforeWebSwitch(version) ? withWebOn(steps) : steps;
}

type Step = (instance: JsonObject) => JsonObject;

/** In 1.0, prompts are an object by key or by file name. */
const promptsAsList: Step = (instance) => {
  const { prompts } = instance;
  if (!isObject(prompts)) return instance;
  const list = Object.entries(prompts).map(([name, content]) => ({ key: name.replace(/\.md$/, ""), content }));
  return { ...instance, prompts: list };
};

/** In 1.1, skills are slugs, and all of them are enabled. */
const skillsAsObjects: Step = (instance) => changed(instance, "skills", asSkill);

function asSkill(skill: JsonValue): JsonValue {
  return typeof skill === "string" ? { skillSlug: skill, enabled: true } : skill;
}

/** In 1.2, tools and hooks have their names from before there were plugins, and a hook's tool is a field of the hook. */
const toolsOfToday: Step = (instance) => {
  const named = changed(changed(instance, "hooks", asHook), "toolsNeedingApproval", (name) => name);
  return approvalApart({ ...named, ...renamed(named, "manualTools"), ...renamed(named, "toolsNeedingApproval") });
};

/** A tool may be an object with its approval setting. */
function approvalApart(instance: JsonObject): JsonObject {
  const { manualTools } = instance;
  if (!Array.isArray(manualTools) || !manualTools.some(isObject)) return instance;
  const tools = manualTools.map((tool) => (isObject(tool) ? tool : { name: tool, needsApproval: false }));
  const names = (list: readonly JsonObject[]) => list.map(({ name }) => name ?? null);
  return {
    ...instance,
    manualTools: names(tools),
    toolsNeedingApproval: names(tools.filter(({ needsApproval }) => needsApproval === true)),
  };
}

/** Renames tools. One old tool may have become several. */
function renamed(instance: JsonObject, field: string): JsonObject {
  const list = instance[field];
  if (!Array.isArray(list)) return {};
  const names = list.flatMap((tool): JsonValue[] => {
    const name = isObject(tool) ? tool.name : tool;
    const successors = typeof name === "string" ? successorsOf(name) : null;
    if (!successors) return [tool];
    return successors.map((successor) => (isObject(tool) ? { ...tool, name: successor } : successor));
  });
  return { [field]: [...new Set(names)] };
}

function asHook(hook: JsonValue): JsonValue {
  if (!isObject(hook)) return hook;
  const { toolName, args, ...rest } = hook;
  const flat = typeof toolName === "string" && rest.actionConfig === undefined;
  const whole = flat ? { ...rest, actionConfig: { toolName, ...(args === undefined ? {} : { args }) } } : hook;
  const { actionConfig } = whole;
  if (!isObject(actionConfig) || typeof actionConfig.toolName !== "string") return whole;
  // A hook calls only one tool, so it gets the first successor.
  const [first = actionConfig.toolName] = successorsOf(actionConfig.toolName) ?? [];
  return { ...whole, actionConfig: { ...actionConfig, toolName: first } };
}

/** Adds Web if it is missing, at the end, so that problems of other channels name the right index. */
function withWebOn(instance: JsonObject): JsonObject {
  const { channels = [] } = instance;
  if (!Array.isArray(channels)) return instance;
  const isWeb = (channel: JsonValue): channel is JsonObject => isObject(channel) && channel.channelType === "web";
  const on = channels.map((channel) => (isWeb(channel) ? { ...channel, enabled: true } : channel));
  return { ...instance, channels: on.some(isWeb) ? on : [...on, { channelType: "web", enabled: true }] };
}

/** Changes each entry of a list; returns the instance unchanged without a list. */
function changed(instance: JsonObject, field: string, change: (entry: JsonValue) => JsonValue): JsonObject {
  const list = instance[field];
  return Array.isArray(list) ? { ...instance, [field]: list.map(change) } : instance;
}

/** Formats 1.4 and 1.5 belong to managed builds. The parts that only they have are removed from any format. */
const stepsFrom: Record<ReadVersion, readonly Step[]> = {
  "1.0": [promptsAsList, skillsAsObjects, toolsOfToday],
  "1.1": [skillsAsObjects, toolsOfToday],
  "1.2": [toolsOfToday],
  "1.3": [],
  "1.4": [toolsOfToday],
  "1.5": [],
};
