// The parts of an OpenAPI 3.1 document that are compared between releases.

/** A JSON Schema. Keywords are read one by one, so that one that nobody thought of is noticed. */
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
  /** The ways to show who one is, of which one is enough; absent or with an empty one: nobody has to. */
  security?: Record<string, string[]>[];
  "x-permission"?: string;
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema>; securitySchemes?: Record<string, Record<string, unknown>> };
}

export interface Change {
  /** Whether a client that was written for the document before may fail now. */
  breaking: boolean;
  /** What changed: an operation, such as `GET /health`, or the name of a schema. */
  subject: string;
  text: string;
}

/** Which way a value goes. A request that was accepted must be, an answer must be what it was said to be. */
type Direction = "request" | "answer";

/** Where a schema stands. */
export interface Place {
  subject: string;
  /** The way from the subject to the schema; empty for the subject itself. */
  path: string;
  direction: Direction;
}

/** Takes note of a change at a place. */
export type Report = (breaking: boolean, place: Place, text: string) => void;

export const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
