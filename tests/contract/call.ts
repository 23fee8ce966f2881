import { isWrite, type Route } from "./document.ts";
import type { Prepared } from "./requests.ts";
import type { World } from "./world.ts";

export type Headers = Record<string, string>;

export interface Answer {
  status: number;
  text: string;
  /** Its id in log and audit log. */
  requestId: string;
  /** All parts of an answer by which a caller could tell two answers apart. */
  bytes: string;
}

/** Ways to send credentials. */
export const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` });
export const ownOrigin = { Origin: "http://localhost" };
export const cookie = (token: string): Headers => ({ Cookie: `agent_engine.session_token=${token}` });
export const addressing = (slug: string): Headers => ({ "X-Organization": slug });

/** The path with the request's parameters, encoded. */
export function pathOf({ path }: Pick<Route, "path">, params: Record<string, string>): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_match, name: string) => encodeURIComponent(params[name] ?? ""));
}

/** Sends a prepared request to a route. */
export async function call({ h }: World, route: Route, prepared: Prepared, headers: Headers): Promise<Answer> {
  const { params = {}, json } = prepared;
  const body = isWrite(route) && json !== undefined ? { json } : {};
  const init = { method: route.method, headers, ...body };
  const response = await h.request(pathOf(route, params) + (prepared.query ?? ""), init);
  const text = await readText(response);
  const shown = [...response.headers].filter(([name]) => !/^(x-request-id|x-ratelimit-)/.test(name));
  return {
    status: response.status,
    text,
    requestId: response.headers.get("X-Request-Id") ?? "",
    bytes: JSON.stringify([response.status, shown, text]),
  };
}

/** The whole answer; for an activity stream, which only its reader ends, the beginning. */
export async function readText(response: Response): Promise<string> {
  let text = "";
  // Ending the loop cancels the stream.
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.startsWith(connected)) break;
  }
  return text;
}

/** The first line of an activity stream. */
export const connected = ": connected";

/** Collects violations, so that a run shows all of them. */
export function findings() {
  const found: string[] = [];
  const expectStatus = (label: string, { status, text }: Answer, ...wanted: number[]) => {
    if (!wanted.includes(status))
      found.push(`${label}: ${status} instead of ${wanted.join("/")}, ${text.slice(0, 200)}`);
  };
  const expectMessage = (label: string, answer: Answer, status: number, message: string) => {
    expectStatus(label, answer, status);
    const said = answer.status === status ? messageOf(answer) : message;
    if (said !== message) found.push(`${label}: "${said}" instead of "${message}"`);
  };
  /** The shape of every error (decisions §3). */
  const expectError = (label: string, { status, text }: Answer, error: string) => {
    const body = parse(text) as Record<string, unknown> | null;
    const shaped = body?.statusCode === status && body.error === error && typeof body.message === "string";
    if (!shaped) found.push(`${label}: not the body of an error: ${text.slice(0, 200)}`);
  };
  const expectSame = (label: string, a: Answer, b: Answer) => {
    if (a.bytes !== b.bytes) found.push(`${label}: tells ${a.bytes} from ${b.bytes}`);
  };
  return { found, expectStatus, expectMessage, expectError, expectSame };
}

const messageOf = ({ text }: Answer) => (parse(text) as { message?: unknown } | null)?.message;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
