import { APICallError } from "@ai-sdk/provider";
import { EgressError } from "../../core/egress/target.ts";
import { isObject } from "../../core/json.ts";
import { type Bytes, readExcerpt } from "../excerpt.ts";

/** The most characters read of a refusal. */
export const refusalLength = 64_000;

/** How many characters of a wrong response are logged. */
const excerptLength = 2_000;

/** The error of a failed connection, which is the same on every runtime. */
export function unreachable(url: string, cause: unknown): APICallError {
  return new APICallError({
    message: "The provider cannot be reached",
    url,
    requestBodyValues: undefined,
    // Not if the guard refused the address: it would do so again.
    isRetryable: !(cause instanceof EgressError),
    cause,
  });
}

interface UnexpectedResponse {
  url: string;
  status: number;
  body: Bytes | null;
}

/** The error for a page or a JSON body, which would otherwise be read as an empty stream. */
export async function noStream(type: string, { url, status, body }: UnexpectedResponse): Promise<APICallError> {
  return new APICallError({
    message: `The provider answered with ${type} instead of an event stream`,
    url,
    requestBodyValues: undefined,
    statusCode: status,
    isRetryable: false,
    responseBody: await readExcerpt(body, excerptLength),
  });
}

/** The error for a response with a status other than 200. */
export async function refused(
  { url, status, body }: UnexpectedResponse,
  responseHeaders: Record<string, string>,
): Promise<APICallError> {
  const responseBody = await readExcerpt(body, refusalLength).catch(() => "");
  const { message = `The provider answered with status ${status}`, data } = explain(responseBody);
  const known = { url, statusCode: status, responseHeaders, responseBody, data };
  return new APICallError({ message, requestBodyValues: undefined, ...known });
}

/** The message in a refusal's JSON: `{ error: { message } }`, or Mistral's `{ message }`. */
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

/** The error of a broken stream. */
export function brokenOff(url: string, cause: unknown): APICallError {
  const message = "The provider's stream broke off";
  return new APICallError({ message, url, requestBodyValues: undefined, statusCode: 200, isRetryable: true, cause });
}

/** A body's media type, without parameters. */
export function mediaType(contentType: string | null | undefined): string {
  return contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
}
