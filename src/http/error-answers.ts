import type { z } from "@hono/zod-openapi";
import type { Issue } from "../core/errors.ts";
import { ErrorBody, reasonPhrases } from "./errors.ts";

/** How the API document describes a status, with an example response. */
interface StatusDescription {
  description: string;
  message: string;
  issues?: readonly Issue[];
}

const told = {
  400: {
    description: "The request is not valid; `issues` names each field.",
    message: "name: must not be empty",
    issues: [{ path: "name", message: "must not be empty" }],
  },
  401: { description: "No valid credentials.", message: "Missing credentials" },
  403: { description: "The caller lacks the permission.", message: "Missing permission: agent:write" },
  404: { description: "No such thing, or not within the caller's reach.", message: "Agent not found" },
  409: { description: "It collides with what is there.", message: "The slug assistant is taken" },
  412: {
    description: "`If-Match` names an older revision.",
    message: "The agent is at revision 3: read it again",
  },
  413: { description: "The body is too large.", message: "The body may have at most 1048576 bytes" },
  415: { description: "The content type is not accepted.", message: "Content-Type must be application/json" },
  422: {
    description: "The same key came with another body.",
    message: "This Idempotency-Key was used with another body: use a new one",
  },
  429: {
    description: "Rate limit exceeded; `Retry-After` says when to come back.",
    message: "Too many requests: try again in 12 seconds",
  },
  502: { description: "The model provider failed.", message: "Model provider error" },
  503: {
    description: "The server is stopping or overloaded, or its database is away; `Retry-After` says when to come back.",
    message: "The database did not answer in time",
  },
  504: { description: "The model provider did not answer in time.", message: "Model provider timed out" },
} as const satisfies Record<number, StatusDescription>;

export type ErrorStatus = keyof typeof told;

/** The error response with a status, as routes declare it, with the usual description or the given one. */
export function errorAnswer(status: ErrorStatus, { description, message, issues }: StatusDescription = told[status]) {
  const body = { statusCode: status, message, error: reasonPhrases[status] ?? "Error" };
  const example: z.input<typeof ErrorBody> = issues ? { ...body, issues: [...issues] } : body;
  return { description, content: { "application/json": { schema: ErrorBody, example } } };
}
