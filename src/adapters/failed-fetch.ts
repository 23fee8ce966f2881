/** The code of a failed `fetch`. Its texts may contain addresses, and an address may contain a token. */
export function codeOf(error: unknown): string | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    if ("code" in at && typeof at.code === "string" && /^[A-Z0-9_]{1,64}$/.test(at.code)) return at.code;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return null;
}

/** Codes of a `fetch` that failed before it sent a byte of the request. */
const neverSent =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT|ERR_TLS|ERR_INVALID|CERT_|UNABLE_TO_|(DEPTH_ZERO_)?SELF_SIGNED)/;

/** Whether a `fetch` failed before it sent anything: then the server can't have acted on it. */
export const wasNeverSent = (error: unknown) => neverSent.test(codeOf(error) ?? "");
