// Writes schema/*.schema.json, with which editors check and complete files of agents and skills, from
// openapi/openapi.json. With `--check` it only compares.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const check = process.argv.includes("--check");

interface Schema {
  [key: string]: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  oneOf?: Schema[];
}

const document = JSON.parse(readFileSync(path("openapi/openapi.json"), "utf8")) as {
  components: { schemas: Record<string, Schema> };
};
const { schemas } = document.components;

const variable = {
  type: "string",
  pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
  description: "Name of a variable of the environment in which `apply` runs.",
  examples: ["OPENAI_API_KEY"],
};

const credential = (description: string): Schema => ({
  type: "object",
  properties: { fromEnv: variable },
  required: ["fromEnv"],
  description,
});

const stale = [update("schema/agent.schema.json", agentSchema()), update("schema/skill.schema.json", skillSchema())];
if (check && stale.includes(true)) {
  console.error("schema/ differs from openapi/openapi.json; run: npm run generate");
  process.exitCode = 1;
}

/** The schema of a bundle whose credentials are names of environment variables. */
function agentSchema(): Schema {
  const bundle = component("AgentBundle");
  const { version, type, exportedAt } = fieldsOf(bundle);
  const instance = component("BundledInstance");
  const fields = fieldsOf(instance);
  const of = (name: string) => fieldsOf(itemsOf(field(fields, name)));
  of("secrets").fromEnv = { ...variable, description: `Stored when the file is applied. ${variable.description}` };
  const env = fieldsOf(itemsOf(field(of("skillEnv"), "env")));
  env.fromEnv = { ...variable, description: `In place of \`value\`. ${variable.description}` };
  for (const channel of itemsOf(field(fields, "channels")).oneOf ?? []) addCredentials(fieldsOf(channel));
  of("eventSources").authKey = credential("The key that calls have to bring.");
  const icon = field(fields, "icon");
  icon.description = "A picture beside this file, such as `./support.png`: PNG, JPEG or WebP, at most 512 KiB.";
  icon.examples = ["./support.png"];
  return finish("Agent", {
    type: "object",
    properties: {
      // YAML reads an unquoted 1.3 as a number.
      version: { ...version, type: ["string", "number"], enum: ["1.3", 1.3], description: "Of the format." },
      type: { ...type },
      exportedAt: { ...exportedAt },
      instance,
    },
    required: ["version", "type", "instance"],
  });
}

function skillSchema(): Schema {
  const skill = component("ImportedSkill");
  const { versions, ...fields } = fieldsOf(skill);
  return finish("Skill", {
    ...skill,
    properties: { type: { type: "string", enum: ["skill"] }, ...fields },
    required: ["type", "name", "description", "content"],
  });
}

function addCredentials({ channelType, config }: Record<string, Schema>): void {
  const name = (channelType?.enum as string[] | undefined)?.[0] ?? "";
  const names: Record<string, string[]> = {
    telegram: ["botToken"],
    slack: ["botToken", "signingSecret", "appToken"],
    whatsapp: ["accountSid", "authToken", "apiKeySid", "apiKeySecret"],
  };
  for (const one of names[name] ?? []) fieldsOf(config ?? {})[one] = credential("Stored when the file is applied.");
}

/** Adds the referenced schemas, and refuses unknown fields. */
function finish(title: string, schema: Schema): Schema {
  const definitions = new Map<string, unknown>();
  const close = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(close);
    if (typeof value !== "object" || value === null) return value;
    const { example, ...rest } = value as Schema;
    if (typeof rest.$ref === "string") return { $ref: refer(rest.$ref) };
    const closed = Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, closeField(key, one)]));
    if (example !== undefined && example !== null && closed.examples === undefined) closed.examples = [example];
    if (rest.properties && rest.additionalProperties === undefined) closed.additionalProperties = false;
    return closed;
  };
  const closeField = (key: string, value: unknown): unknown => {
    if (["enum", "default", "examples", "required"].includes(key)) return value;
    if (key !== "properties") return close(value);
    return Object.fromEntries(Object.entries(value as Record<string, Schema>).map(([name, one]) => [name, close(one)]));
  };
  const refer = (reference: string): string => {
    const name = reference.replace("#/components/schemas/", "");
    if (!definitions.has(name)) {
      definitions.set(name, null);
      definitions.set(name, close(component(name)));
    }
    return `#/$defs/${name}`;
  };
  const closed = close(schema) as Schema;
  const properties = { $schema: { type: "string" }, ...closed.properties };
  const $schema = "https://json-schema.org/draft/2020-12/schema";
  const $defs = definitions.size > 0 ? { $defs: Object.fromEntries([...definitions].sort()) } : {};
  return { $schema, title, ...closed, properties, ...$defs };
}

function component(name: string): Schema {
  const found = schemas[name];
  if (!found) throw new Error(`openapi/openapi.json has no schema ${name}`);
  return structuredClone(found);
}

function fieldsOf(schema: Schema): Record<string, Schema> {
  schema.properties ??= {};
  return schema.properties;
}

function field(fields: Record<string, Schema>, name: string): Schema {
  const found = fields[name];
  if (!found) throw new Error(`A bundle has no ${name}`);
  return found;
}

function itemsOf(schema: Schema): Schema {
  if (!schema.items) throw new Error("A list of a bundle has no items");
  return schema.items;
}

/** Writes the file unless `check` is set. Returns whether its text differed. */
function update(name: string, schema: Schema): boolean {
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  if (text === read(path(name))) return false;
  if (check) return true;
  mkdirSync(path("schema"), { recursive: true });
  writeFileSync(path(name), text);
  return true;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
