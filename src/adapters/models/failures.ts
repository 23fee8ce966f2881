import { APICallError } from "@ai-sdk/provider";
import { EgressError } from "../../core/egress/target.ts";
import { isObject } from "../../core/json.ts";
import { type Bytes, readExcerpt } from "../excerpt.ts";

/** How many characters of a refusal are read. */
export const refusalLength = 64_000;

/** How many characters of a wrong answer reach the log. */
const excerptLength = 2_000;

/** The error of a connection that failed, the same on every runtime. */
export function unreachable(url: string, cause: unknown): APICallError {
  return new APICallError({
    message: "The provider cannot be reached",
    url,
    requestBodyValues: undefined,
    // A refused address stays refused.
    isRetryable: !(cause instanceof EgressError),
    cause,
  });
}

interface Answered {
  url: string;
  status: number;
  body: Bytes | null;
}

/** The error of an answer that is a page or a JSON body: read as a stream, it would be an empty one. */
export async function noStream(type: string, { url, status, body }: Answered): Promise<APICallError> {
  return new APICallError({
    message: `The provider answered with ${type} instead of an event stream`,
    url,
    requestBodyValues: undefined,
    statusCode: status,
    isRetryable: false,
    responseBody: await readExcerpt(body, excerptLength),
  });
}

/** The error of an answer with another status than 200. */
export async function refused(
  { url, status, body }: Answered,
  responseHeaders: Record<string, string>,
): Promise<APICallError> {
  const responseBody = await readExcerpt(body, refusalLength).catch(() => "");
  const { message = `The provider answered with status ${status}`, data } = explain(responseBody);
  const known = { url, statusCode: status, responseHeaders, responseBody, data };
  return new APICallError({ message, requestBodyValues: undefined, ...known });
}

/** The message of a refusal in JSON: `{ error: { message } }`, or Mistral's `{ message }`. */
function explain(said: string): { message?: string; data?: unknown } {
  try {
    const data: unknown = JSON.parse(said);
    if (!isObject(data)) return {};
    const { message } = isObject(data.error) ? data.error : data;
    return { data, ...(typeof message === "string" ? { message } : {}) };
  } catch {
    return {};
  }
}

/** The error of a stream that broke off. */
export function brokenOff(url: string, cause: unknown): APICallError {
  const message = "The provider's stream broke off";
  return new APICallError({ message, url, requestBodyValues: undefined, statusCode: 200, isRetryable: true, cause });
}

/** The type of a body, without its parameters. */
export function mediaType(contentType: string | null | undefined): string {
  return contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
}
