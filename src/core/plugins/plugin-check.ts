import { z } from "zod";
import { isObject, type JsonObject } from "../json.ts";
import { jsonProblem, zText } from "../text/text.ts";
import type { Plugin, PluginTool } from "./plugin.ts";
import "../validation.ts";

/** A usable plugin, or its problems: sentences that each begin with the field. */
export type CheckedPlugin = { plugin: Plugin } | { problems: string[] };

/** Checks a value that should be a plugin. Returns a copy, which the plugin's author can't change afterwards. */
export function checkPlugin(value: unknown): CheckedPlugin {
  const { success, data, error } = PluginShape.safeParse(value);
  if (success) return { plugin: data as Plugin };
  return {
    problems: error.issues.map(
      ({ path, message }) => `${path.map(String).join(".") || "The default export"} ${message}`,
    ),
  };
}

const text = (max: number) => zText(max).refine((value) => value.trim() !== "", "must not be empty");

/** A list in which `field` has a different value in each entry. */
const distinct =
  <Field extends string>(field: Field) =>
  (list: readonly Readonly<Record<Field, string>>[]) =>
    new Set(list.map((entry) => entry[field])).size === list.length;

/** `builtin` is for the engine's own tools, `agent` for agents as tools. */
const reservedNamespaces: ReadonlySet<string> = new Set(["agent", "builtin"]);

/** Secrets that authenticate callers or the engine itself; no tool needs them. */
const engineSecrets: ReadonlySet<string> = new Set(["auth_api_key", "tracing_api_key"]);

const host = z
  .string()
  .max(259)
  .toLowerCase()
  .regex(
    /^(\[[0-9a-f:.]+\]|(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?)(:\d{1,5})?$/,
    "must be a host such as api.example.com, without a scheme or a path",
  );

const secret = z
  .strictObject({
    key: z
      .string()
      .regex(/^[a-z0-9_]{1,64}$/, "must be 1 to 64 of a-z, 0-9 and _")
      .refine((key) => !engineSecrets.has(key), "must not be a secret of the engine itself"),
    type: z.enum(["text", "select"]),
    label: text(100).optional(),
    description: text(1_000).optional(),
    choices: z.array(text(256)).min(1).max(64).optional(),
    optional: z.boolean().optional(),
    sensitive: z.boolean(),
  })
  .refine(({ type, choices }) => (type === "select") === (choices !== undefined), {
    path: ["choices"],
    error: "must be given for a select, and only there",
  });

const parameterLimits = { levels: 32, bytes: 64 * 1024 };

/** A tool's schema must describe an object: providers refuse a whole request for one other schema. */
const parameters = z.unknown().transform((value, context): JsonObject => {
  const problem = parametersProblem(value);
  if (problem === null) return JSON.parse(JSON.stringify({ properties: {}, ...(value as JsonObject) })) as JsonObject;
  context.addIssue({ code: "custom", message: problem });
  return z.NEVER;
});

function parametersProblem(value: unknown): string | null {
  if (value === undefined) return "is required";
  if (!isObject(value)) return "must be an object";
  const problem = jsonProblem(value, parameterLimits);
  if (problem !== null) return problem;
  const { type, properties = {}, required = [] } = value;
  if (type !== "object") return 'must be a JSON Schema of type "object"';
  if (!isObject(properties) || !Object.values(properties).every(isObject)) return "must have schemas in properties";
  const named =
    Array.isArray(required) && required.every((name) => typeof name === "string" && Object.hasOwn(properties, name));
  return named ? null : "must name in required only what properties describes";
}

const tool = z
  .strictObject({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, _ and -"),
    description: text(4_096),
    parameters,
    effect: z.enum(["none", "external"]),
    needsApproval: z.boolean(),
    execute: z.custom<PluginTool["execute"]>((value) => typeof value === "function", "must be a function"),
  })
  .transform((given): PluginTool => given);

const PluginShape = z.strictObject({
  namespace: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "must be 1 to 32 lower-case letters, digits or dashes, not a dash first")
    .refine((namespace) => !reservedNamespaces.has(namespace), "must not be agent or builtin, which are the engine's"),
  title: text(64),
  hosts: z.array(host).max(64),
  secrets: z.array(secret).max(32).refine(distinct("key"), "must not have two of one key"),
  tools: z.array(tool).min(1).max(128).refine(distinct("name"), "must not have two of one name"),
});
