import { signal } from "@preact/signals";
import { AgentEngineError, createAgentEngine } from "../../client/index.ts";
import { credential } from "./impersonation.ts";
import { issuesText, refusalText, type Say } from "./refusal-text.ts";

/** The address of the server. The page is at the server's root, which a proxy may put below a path. */
export const serverUrl = new URL(".", location.href).href.replace(/\/$/, "");

/** The slug of the organization that requests are for; null: the server chooses. */
export const addressed = signal<string | null>(null);

const addressing = () => (addressed.value === null ? {} : { "X-Organization": addressed.value });

/** How every client reaches the server, as the person whose view this tab shows and in the page's organization. */
export const connection = { baseUrl: serverUrl, headers: () => ({ ...addressing(), ...credential() }) };

/** The API as the person whose view this tab shows. */
export const api = createAgentEngine(connection);

/** The API for requests about the person. They name no organization, since it may have become unreachable. */
export const account = createAgentEngine({ baseUrl: serverUrl, headers: credential });

/** Why a request failed, in words for people; `say` gives refused fields their names. */
export function reasonOf(error: unknown, say?: Say): string {
  if (error instanceof AgentEngineError) {
    if (say && error.issues.length > 0) return issuesText(error.issues, say);
    return refusalText(error.message, error.status === 429 ? error.retryAfterSeconds : null);
  }
  if (error instanceof TypeError) return "The server can't be reached. Is it running?";
  return error instanceof Error ? error.message : String(error);
}

/** The problems of fields, by path. A list item's problem is also under the path of its list. */
export function problemsOf(error: unknown): ReadonlyMap<string, string> {
  const issues = error instanceof AgentEngineError ? error.issues : [];
  const all = issues.map(({ path, message }) => [path, message] as const);
  return new Map([...all.flatMap(([path, message]) => above(path).map((one) => [one, message] as const)), ...all]);
}

/** The paths above `a.0.b`: `a` and `a.0`. */
const above = (path: string): string[] => [...path.matchAll(/\./g)].map(({ index }) => path.slice(0, index));

export const isRefused = (error: unknown, status: number) =>
  error instanceof AgentEngineError && error.status === status;
