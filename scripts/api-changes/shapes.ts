// Reads a schema of the document: follows its reference, joins its parts, and separates its alternatives.
import { isObject, type Schema } from "./document.ts";

export type Schemas = Readonly<Record<string, Schema>>;

/** The schema name in a reference; null for a schema that is no reference. */
export function nameOf(schema: Schema): string | null {
  return typeof schema.$ref === "string" ? schema.$ref.replace("#/components/schemas/", "") : null;
}

/** The schema without references at its top; the parts of an `allOf` are joined. */
export function resolve(schema: Schema, schemas: Schemas): Schema {
  const name = nameOf(schema);
  if (name !== null) {
    const target = schemas[name];
    if (!target) throw new Error(`The document has no schema ${name}`);
    return resolve(target, schemas);
  }
  if (!Array.isArray(schema.allOf)) return schema;
  const { allOf, ...rest } = schema;
  return [...schemaList(allOf), rest].map((part) => resolve(part, schemas)).reduce(join, {});
}

function join(one: Schema, other: Schema): Schema {
  const properties = { ...propertiesOf(one), ...propertiesOf(other) };
  const required = [...new Set([...requiredOf(one), ...requiredOf(other)])];
  const [types, others] = [typesOf(one), typesOf(other)];
  return {
    ...one,
    ...other,
    // A value must have a type that all parts allow.
    ...(types && others ? { type: types.filter((type) => others.includes(type)) } : {}),
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

const schemaList = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isObject) : []);

export const propertiesOf = ({ properties }: Schema): Record<string, Schema> =>
  isObject(properties) ? (properties as Record<string, Schema>) : {};

export const requiredOf = ({ required }: Schema): string[] => (Array.isArray(required) ? required : []);

/** The values that a schema lists; null if it lists none. */
export function valuesOf({ enum: listed, const: only }: Schema): unknown[] | null {
  if (only !== undefined) return [only];
  return Array.isArray(listed) ? listed : null;
}

/** The JSON types that a schema names; null for one without types. */
export function typesOf({ type }: Schema): string[] | null {
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type : null;
}

/** The alternatives of a schema; a schema without alternatives is its only one. */
export interface Alternatives {
  options: Schema[];
  nullable: boolean;
}

export function alternativesOf(schema: Schema, schemas: Schemas): Alternatives {
  const listed = schemaList(schema.oneOf ?? schema.anyOf);
  if (listed.length === 0) return { options: [schema], nullable: false };
  const isNull = (option: Schema) => typesOf(resolve(option, schemas))?.join() === "null";
  return { options: listed.filter((option) => !isNull(option)), nullable: listed.some(isNull) };
}

/** The fields that distinguish the schema's alternatives, with this alternative's values. */
export function tagsOf(option: Schema, schemas: Schemas): Map<string, unknown[]> {
  const shape = resolve(option, schemas);
  const required = requiredOf(shape);
  const tags = new Map<string, unknown[]>();
  for (const [name, property] of Object.entries(propertiesOf(shape))) {
    const values = valuesOf(resolve(property, schemas));
    if (values && required.includes(name)) tags.set(name, values);
  }
  return tags;
}

/** Whether a field distinguishes all these alternatives, so that a client can recognise an unknown one. */
export function areTagged(options: readonly Schema[], schemas: Schemas): boolean {
  const tags = options.map((option) => tagsOf(option, schemas));
  return [...(tags[0]?.keys() ?? [])].some((name) => {
    const values = tags.flatMap((own) => own.get(name)?.map((value) => JSON.stringify(value)) ?? []);
    return tags.every((own) => own.has(name)) && new Set(values).size === values.length;
  });
}
