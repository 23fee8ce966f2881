import { command } from "../command-name.ts";

/** The address of an agent. */
export interface Address {
  /** Without a trailing slash. */
  url: string;
  slug: string;
}

/** Thrown when a message got no reply. The one-line message says what to do. */
export class Refusal extends Error {
  /** The status of the response; null without a response, and when the reply broke off. */
  readonly status: number | null;

  constructor(message: string, status: number | null = null) {
    super(message);
    this.name = "Refusal";
    this.status = status;
  }
}

/** The refusal for a response that is no stream. */
export async function explainAnswer(response: Response, { url, slug }: Address, withKey: boolean): Promise<Refusal> {
  const { status, headers } = response;
  const refuse = (text: string) => new Refusal(text, status);
  const moved = headers.get("Location");
  if (status >= 300 && status < 400 && moved) return refuse(`${url} redirects to ${moved}: name that with --url`);

  const message = await readMessage(response);
  if (message === null) return refuse(`What answers at ${url} is no Agent Engine (status ${status}): check --url`);
  if (status === 401 && /no API key configured/.test(message)) {
    return refuse(`${slug} asks for a key but has none: save its secret auth_api_key first`);
  }
  if (status === 401 && !withKey) return refuse(`${slug} asks for its key: set AGENT_API_KEY to it`);
  if (status === 401) return refuse(`${slug} refuses the key (${message}): set AGENT_API_KEY to the agent's own key`);
  if (status === 404 && message === "Unknown model") {
    return refuse(`There is no agent ${slug} at ${url}, or it is inactive or its Web channel is off`);
  }
  const seconds = headers.get("Retry-After");
  const wait = seconds === null || /\d second/.test(message) ? "" : `: try again in ${seconds} s`;
  return refuse(`${message}${wait}`);
}

/** The message in the engine's error body; null for any other response. */
async function readMessage(response: Response): Promise<string | null> {
  try {
    const body: unknown = JSON.parse(await response.text());
    const ours = typeof body === "object" && body !== null && "statusCode" in body && "message" in body;
    return ours && typeof body.message === "string" ? body.message : null;
  } catch {
    return null;
  }
}

/** The refusal for a request without a response. */
export function explainFailure(error: unknown, { url }: Address): Refusal {
  const code = failureCode(error);
  if (code === "ECONNREFUSED") {
    return new Refusal(`No server answers at ${url}: start it with ${command} serve, or name another with --url`);
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return new Refusal(`The host of ${url} is not known: check --url`);
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") {
    return new Refusal(`${url} does not answer: check --url, and that no firewall is in between`);
  }
  return new Refusal(`${url} can't be reached (${code}): check --url`);
}

/** The first code among nested failures, or else the message. `fetch` wraps one failure for each address that it tried. */
function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return "unknown reason";
  if ("code" in error && typeof error.code === "string") return error.code;
  if (error instanceof AggregateError) return failureCode(error.errors[0]);
  return error.cause === undefined ? error.message : failureCode(error.cause);
}
