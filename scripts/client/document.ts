// The parts of an OpenAPI 3.1 document that the client is made from.

export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  format?: string;
  description?: string;
}

interface Parameter {
  name: string;
  in: "path" | "query" | "header" | "cookie";
  required?: boolean;
  description?: string;
  schema: Schema;
}

export type Content = Record<string, { schema: Schema }>;

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface Endpoint {
  method: string;
  path: string;
  operation: Operation;
}

export function endpointsOf({ paths }: Document): Endpoint[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

export const isBinary = (type: string) => !/json$|^text\//.test(type);

/** The kind of an operation's response: parsed JSON, a stream of events, bytes, or nothing. */
export function answerOf({ operationId, responses }: Operation): {
  kind: "json" | "events" | "blob" | "none";
  schema?: Schema;
} {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const content = successes[0]?.[1].content ?? {};
  if (successes.length !== 1) throw new Error(`${operationId} must document one success`);
  const { "application/json": json, "text/event-stream": events, ...others } = content;
  if (json) return { kind: "json", schema: json.schema };
  if (events) return { kind: "events", schema: events.schema };
  return { kind: Object.keys(others).length > 0 ? "blob" : "none" };
}
