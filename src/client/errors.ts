import type { ErrorBody } from "./generated/types.ts";

/** The server refused a call, or something between it and us did. */
export class AgentEngineError extends Error {
  override name = "AgentEngineError";
  /** HTTP status. */
  readonly status: number;
  /** What the server said; null when the answer came from something else, such as a proxy. */
  readonly body: ErrorBody | null;
  /** Names the call in the server's log. */
  readonly requestId: string | null;
  /** When to try again, where the server says so. */
  readonly retryAfterSeconds: number | null;

  constructor(response: Response, body: ErrorBody | null, message: string) {
    super(message);
    this.status = response.status;
    this.body = body;
    this.requestId = response.headers.get("X-Request-Id");
    const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
    this.retryAfterSeconds = Number.isFinite(seconds) ? seconds : null;
  }

  /** What is wrong with which field of the input; empty unless the server names fields. */
  get issues(): { path: string; message: string }[] {
    return this.body?.issues ?? [];
  }
}

/** A stream ended before its `done`: the turn may have gone on, and its reply may be stored. */
export class StreamCutError extends Error {
  override name = "StreamCutError";
  /** The last event that arrived, as the server counts them. */
  readonly lastEventId: string | null;

  constructor(
    lastEventId: string | null,
    cause?: unknown,
    message = "The connection ended before the reply was complete",
  ) {
    super(message, { cause });
    this.lastEventId = lastEventId;
  }
}

/** The error for an answer that is not what the operation promises. */
export async function refusalOf(response: Response): Promise<AgentEngineError> {
  const body = parseBody(await response.text().catch(() => ""));
  const status = `${response.status} ${response.statusText}`.trim();
  const foreign = response.ok
    ? `The answer is not Agent Engine's (HTTP ${status}): check baseUrl`
    : `HTTP ${status}, from something in front of Agent Engine or at another address: check baseUrl`;
  return new AgentEngineError(response, body, body?.message ?? foreign);
}

function parseBody(text: string): ErrorBody | null {
  try {
    const body = JSON.parse(text) as Partial<ErrorBody> | null;
    return typeof body?.message === "string" && typeof body.statusCode === "number" ? (body as ErrorBody) : null;
  } catch {
    return null;
  }
}
