import { signal } from "@preact/signals";
import { AgentEngineError, createAgentEngine } from "../../client/index.ts";
import { issuesText, refusalText, type Say } from "./refusal-text.ts";

/** The server that this page came from: also below a path of a proxy, since the page stands at the server's root. */
export const serverUrl = new URL(".", location.href).href.replace(/\/$/, "");

/** The slug of the organization that calls are about; null: the server chooses. */
export const addressed = signal<string | null>(null);

/** The headers that say which organization a call is about. */
export const addressing = (): Record<string, string> =>
  addressed.value === null ? {} : { "X-Organization": addressed.value };

/** The public API, as the signed-in person: the browser sends the session's cookie. */
export const api = createAgentEngine({ baseUrl: serverUrl, headers: addressing });

/** The calls about the person, which no organization that has become out of reach may hinder. */
export const account = createAgentEngine({ baseUrl: serverUrl });

/** Why a call failed, in words for people; `say` names the refused fields as the page does. */
export function reasonOf(error: unknown, say?: Say): string {
  if (error instanceof AgentEngineError) {
    if (say && error.issues.length > 0) return issuesText(error.issues, say);
    return refusalText(error.message, error.status === 429 ? error.retryAfterSeconds : null);
  }
  if (error instanceof TypeError) return "The server can't be reached. Is it running?";
  return error instanceof Error ? error.message : String(error);
}

/** The problems of single fields, by the field's path; that of an item of a list by the list's path too. */
export function problemsOf(error: unknown): ReadonlyMap<string, string> {
  const issues = error instanceof AgentEngineError ? error.issues : [];
  const all = issues.map(({ path, message }) => [path, message] as const);
  return new Map([...all.flatMap(([path, message]) => above(path).map((one) => [one, message] as const)), ...all]);
}

/** `a.0.b` lies in `a.0`, and that in `a`. */
const above = (path: string): string[] => [...path.matchAll(/\./g)].map(({ index }) => path.slice(0, index));

export const isRefused = (error: unknown, status: number) =>
  error instanceof AgentEngineError && error.status === status;
