import type { Feature } from "../../src/core/edition.ts";
import type { Harness } from "../harness.ts";

/** As much of JSON Schema as the document uses and these tests read. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  example?: unknown;
}

interface Parameter {
  name: string;
  in: string;
  description?: string;
  example?: unknown;
  schema?: Schema;
}

interface Operation {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  security?: Record<string, string[]>[];
  responses: Record<string, unknown>;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema?: Schema; examples?: Record<string, { value: unknown }> }> };
  "x-permission"?: string;
  "x-feature"?: Feature;
}

/** A type and not an interface, which validators take for any record. */
export type Document = {
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, { description?: string }> };
};

/** An operation with its address: `name` is `GET /api/me`. */
export interface Route {
  name: string;
  method: string;
  path: string;
  operation: Operation;
}

export const methods = ["get", "post", "put", "patch", "delete"] as const;

/** The live document, and its operations as a list. */
export async function readDocument(h: Harness): Promise<{ document: Document; list: Route[] }> {
  const document = (await (await h.request("/openapi.json")).json()) as Document;
  const list = Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((lower) => {
      const operation = item[lower];
      const method = lower.toUpperCase();
      return operation ? [{ name: `${method} ${path}`, method, path, operation }] : [];
    }),
  );
  return { document, list };
}

/** Whether the operation accepts this security scheme. */
export function takes({ operation }: Route, scheme: string): boolean {
  return operation.security?.some((one) => scheme in one) ?? false;
}

/** Routes for signed-in people are guarded. */
export const isGuarded = (route: Route) => takes(route, "sessionBearer");

export const isWrite = ({ method }: Pick<Route, "method">) => method !== "GET";

/** A path with every parameter set to a value that doesn't exist. */
export const filled = (path: string) => path.replaceAll(/\{[^}]+\}/g, "x");

/** The schema itself where it is a reference. */
export function resolve(document: Document, schema: Schema | undefined): Schema {
  const name = schema?.$ref?.replace("#/components/schemas/", "");
  return name === undefined ? (schema ?? {}) : resolve(document, document.components.schemas[name]);
}
