/** The server at an address, or why none responds. */
export type Probe =
  | { kind: "engine"; version: string; stopping: boolean }
  | { kind: "other"; status: number }
  /** `code` is the system's code, such as `ECONNREFUSED`, or `TIMEOUT`. */
  | { kind: "nothing"; code: string };

const timeoutMs = 4000;

/** Requests the health of the server at an address. Never rejects. */
export async function probe(url: string): Promise<Probe> {
  try {
    const response = await fetch(`${url}/health`, { redirect: "manual", signal: AbortSignal.timeout(timeoutMs) });
    const body: unknown = await response.json().catch(() => null);
    if (typeof body === "object" && body !== null && "service" in body && body.service === "agent-engine") {
      const version = "version" in body ? String(body.version) : "unknown";
      return { kind: "engine", version, stopping: response.status === 503 };
    }
    return { kind: "other", status: response.status };
  } catch (error) {
    return { kind: "nothing", code: codeOf(error) };
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown reason";
  if (error.name === "TimeoutError") return "TIMEOUT";
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause === undefined ? error.message : codeOf(error.cause);
}
