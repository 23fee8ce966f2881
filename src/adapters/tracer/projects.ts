import { readBytes } from "../../core/files/read-bytes.ts";
import { isObject } from "../../core/json.ts";
import type { Clock } from "../../core/ports.ts";
import { withinTime } from "../../core/time/deadline.ts";
import { type ProjectKey, TracingError } from "../../core/tracing.ts";
import { codeOf } from "../failed-fetch.ts";

interface Options {
  clock: Clock;
  fetch: typeof globalThis.fetch;
}

const timeoutMs = 5_000;
const longestAnswer = 64 * 1024;

/** Asks a Langfuse server for the projects of a key. */
export async function projectsOf({ clock, fetch }: Options, { baseUrl, authorization }: ProjectKey): Promise<string[]> {
  const tooLate = new TracingError(`The tracing backend did not answer within ${timeoutMs / 1_000} s`);
  return withinTime(clock, timeoutMs, tooLate, async (signal) => {
    const headers = { Authorization: authorization, Accept: "application/json" };
    const request = { headers, redirect: "manual", signal } as const;
    const { status, body } = await fetch(`${baseUrl}/api/public/projects`, request).catch(unreachable);
    if (status !== 200) {
      body?.cancel().catch(() => {});
      const refused = status === 401 || status === 403;
      throw new TracingError(
        refused
          ? `The tracing backend refused tracing_api_key with ${status}`
          : `The tracing backend answered ${status} when asked for the project of tracing_api_key`,
      );
    }
    const bytes = body ? await readBytes(body, longestAnswer, unclear).catch(unreachable) : new Uint8Array();
    return namesIn(new TextDecoder().decode(bytes));
  });
}

function unreachable(cause: unknown): never {
  if (cause instanceof TracingError) throw cause;
  const code = codeOf(cause);
  throw new TracingError(`The tracing backend cannot be reached${code === null ? "" : ` (${code})`}`);
}

const unclear = () => new TracingError("The tracing backend did not say which project tracing_api_key belongs to");

function namesIn(text: string): string[] {
  try {
    const answer: unknown = JSON.parse(text);
    const projects = isObject(answer) && Array.isArray(answer.data) ? answer.data : [];
    const names = projects.flatMap((project) =>
      isObject(project) && typeof project.name === "string" ? [project.name] : [],
    );
    if (names.length > 0) return names;
  } catch {
    // The body is no JSON.
  }
  throw unclear();
}
