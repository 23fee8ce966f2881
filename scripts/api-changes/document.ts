// The parts of an OpenAPI 3.1 document that releases are compared by.

/** A JSON Schema. Keywords are read one by one, so that an unexpected one is noticed. */
export type Schema = Readonly<Record<string, unknown>>;

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema?: Schema;
}

export type Content = Record<string, { schema?: Schema }>;

export interface Answer {
  content?: Content;
  headers?: Record<string, { required?: boolean; schema?: Schema }>;
}

export interface Operation {
  operationId?: string;
  deprecated?: boolean;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, Answer>;
  /** The accepted ways to authenticate, one of which suffices; absent or with an empty one: none is needed. */
  security?: Record<string, string[]>[];
  "x-permission"?: string;
  "x-feature"?: string;
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema>; securitySchemes?: Record<string, Record<string, unknown>> };
}

export interface Change {
  /** Whether a client written for the earlier document may fail now. */
  breaking: boolean;
  /** The changed operation, such as `GET /health`, or schema. */
  subject: string;
  text: string;
}

/** The direction of a value. A request accepted before must stay accepted; a response must keep its promises. */
type Direction = "request" | "answer";

/** The position of a schema in the document. */
export interface Place {
  subject: string;
  /** The path from the subject to the schema; empty for the subject itself. */
  path: string;
  direction: Direction;
}

/** Notes a change at a position. */
export type Report = (breaking: boolean, place: Place, text: string) => void;

export const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
