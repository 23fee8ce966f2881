// Makes TypeScript types from JSON Schema, as far as the document uses it.
import type { Schema } from "./document.ts";

/** Names of schemas that would hide a global of TypeScript, and their names in the client. */
const renamed: Record<string, string> = { Error: "ErrorBody" };

const typeName = (schema: string) => renamed[schema] ?? schema;

const known = new Set([
  ...["$ref", "type", "enum", "const", "properties", "required", "additionalProperties", "items"],
  ...["anyOf", "oneOf", "allOf", "format", "discriminator"],
  // Keywords that a type can't express.
  ...["description", "example", "examples", "default", "title", "deprecated", "pattern", "minLength", "maxLength"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"],
  ...["uniqueItems", "maxProperties", "minProperties", "propertyNames", "contentEncoding", "contentMediaType"],
]);

/** The type of a schema. Throws for a keyword that is not `known`. */
export function typeOf(schema: Schema): string {
  const strange = Object.keys(schema).filter((key) => !known.has(key));
  if (strange.length > 0) throw new Error(`The client's types cannot say ${strange.join(", ")}`);
  if (schema.$ref) return typeName(schema.$ref.replace("#/components/schemas/", ""));
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  if ("const" in schema) return JSON.stringify(schema.const);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return union(options.map(typeOf));
  if (schema.allOf) return schema.allOf.map((part) => `(${typeOf(part)})`).join(" & ");
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type })));
  return plainType(schema);
}

function plainType(schema: Schema): string {
  switch (schema.type) {
    case undefined:
      return "unknown";
    case "string":
      return schema.format === "binary" ? "Blob" : "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
    case "null":
      return schema.type;
    case "array":
      return `Array<${typeOf(schema.items ?? {})}>`;
    case "object":
      return objectType(schema);
    default:
      throw new Error(`The client's types know no ${String(schema.type)}`);
  }
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const rest = additionalProperties === true ? {} : additionalProperties || undefined;
  const names = Object.keys(properties);
  if (names.length === 0) return `Record<string, ${typeOf(rest ?? {})}>`;
  const fields = names.map((name) =>
    field({ name, schema: properties[name] ?? {}, required: required.includes(name) }),
  );
  // The index signature must fit the named fields too.
  if (rest) fields.push("[key: string]: unknown;");
  return `{\n${fields.join("\n")}\n}`;
}

interface Field {
  name: string;
  schema: Schema;
  required: boolean;
  /** Replaces the schema's description. */
  description?: string | undefined;
}

export function field({ name, schema, required, description = schema.description }: Field): string {
  return `${comment(description)}${JSON.stringify(name)}${required ? "" : "?"}: ${typeOf(schema)};`;
}

/** A doc comment; empty for no text. */
export function comment(text: string | undefined): string {
  if (!text) return "";
  const lines = text.replaceAll("*/", "*\\/").split("\n");
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join("\n")}\n */\n`;
}

/** The declaration of a named type, as an interface where possible. */
export function declaration(name: string, schema: Schema): string {
  const type = typeOf(schema);
  const head = comment(schema.description);
  // A union of objects begins and ends with braces, too.
  return schema.type === "object" && type.startsWith("{")
    ? `${head}export interface ${typeName(name)} ${type}`
    : `${head}export type ${typeName(name)} = ${type};`;
}

const union = (types: string[]) => [...new Set(types)].join(" | ");
