import { isObject, objectOf } from "../../../core/json.ts";

/** Fields that contain a server's own data, in which null is a value. */
const data: ReadonlySet<string> = new Set(["structuredContent", "inputSchema", "data"]);

/**
 * Puts a server's response into the form that the library accepts. Many servers write null for an absent field, and a
 * single malformed tool would hide all others.
 */
export function mendAnswer<Answer extends object>(answer: Answer): Answer {
  const mended = withoutNulls(answer) as Answer & { result?: unknown };
  const { tools, ...rest } = objectOf(mended.result);
  if (Array.isArray(tools)) return { ...mended, result: { ...rest, tools: tools.map(mendTool) } };
  const isEmpty = objectOf(objectOf(answer).result).content === null;
  return isEmpty ? { ...mended, result: { ...rest, content: [] } } : mended;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, data.has(name) ? field : withoutNulls(field)]));
}

/** Gives a tool without a name an empty one, so that it counts as left out. */
function mendTool(tool: unknown) {
  const { name, title, description, inputSchema } = objectOf(tool);
  return {
    name: textOr(name, ""),
    description: textOr(description, textOr(title, "")),
    inputSchema: mendSchema(objectOf(inputSchema)),
  };
}

const textOr = (value: unknown, otherwise: string) => (typeof value === "string" ? value : otherwise);

/** Replaces a schema that is not an object's by one that allows any object. */
function mendSchema({ type = "object", properties, ...rest }: Record<string, unknown>) {
  if (type !== "object") return { type: "object" };
  return { ...rest, type, ...(isObject(properties) ? { properties } : {}) };
}
