import { MCPClientError } from "@ai-sdk/mcp";
import type { Scrub } from "../../../core/scrub/scrub.ts";
import { clip } from "../../../core/text/text.ts";

const longest = 1_000;

/**
 * Explains an error to the person who set the server up, and to the model that called it. The text is scrubbed before
 * it is cut, since a cut secret is not recognized.
 */
export function explainMcp(error: unknown, scrub: Scrub): string {
  return clip(scrub(describe(error, scrub)), longest);
}

function describe(error: unknown, scrub: Scrub): string {
  if (!MCPClientError.isInstance(error)) return error instanceof Error ? error.message : String(error);
  const { statusCode, responseBody = "", code, message, cause } = error;
  if (statusCode !== undefined) return describeStatus(statusCode, scrub(responseBody.trim()));
  if (code !== undefined) return `The server answered: ${message}`;
  const problem = firstIssue(cause);
  return problem === null ? message : `The server's answer is not as the protocol wants it: ${problem}`;
}

function describeStatus(status: number, body: string): string {
  const meaning = status === 401 || status === 403 ? "The server refuses the credentials" : "The server answers";
  return `${meaning} (HTTP ${status})${body === "" ? "" : `: ${clip(body, 300)}`}`;
}

interface ValidationIssue {
  path: readonly PropertyKey[];
  message: string;
  errors?: readonly (readonly ValidationIssue[])[];
}

/** The first problem of validation; if a response may have several forms, the first problem of the first form. */
function firstIssue(cause: unknown): string | null {
  if (!(cause instanceof Error) || !("issues" in cause)) return null;
  let [issue] = cause.issues as ValidationIssue[];
  while (issue?.errors?.[0]?.[0]) issue = issue.errors[0][0];
  return issue ? `${issue.path.map(String).join(".")} ${issue.message}`.trim() : null;
}

/** Whether the server may support only the protocol without `initialize` (MCP 2026-07-28). */
export function refusesInitialize(error: unknown): boolean {
  if (!MCPClientError.isInstance(error)) return false;
  return error.code !== undefined || error.statusCode === 400;
}
