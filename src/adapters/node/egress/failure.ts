import { EgressError } from "../../../core/egress/target.ts";
import { errorCode } from "../error-code.ts";

const unknownName = "The host name is not known";
const unreachable = "The host cannot be reached";

/** Node's error codes in words for the caller who asked for a URL. */
const meanings: readonly (readonly [code: RegExp, message: string])[] = [
  [/^(ENOTFOUND|ENODATA|EAI_NONAME)$/, unknownName],
  [/^(EAI_|ETIMEOUT$)/, "The host name cannot be looked up now; try again later"],
  [/^ECONNREFUSED$/, "The host refused the connection"],
  [/^(ECONNRESET|EPIPE)$/, "The host closed the connection without an answer"],
  [/^HPE_HEADER_OVERFLOW$/, "The headers of the answer are larger than 16 KiB"],
  [/^HPE_/, "The answer is no valid HTTP"],
  [/^(EPROTO|ERR_SSL_)/, "The host does not speak TLS as it must"],
  [/CERT|^ERR_TLS_|^UNABLE_TO_|^HOSTNAME_MISMATCH$/, "The certificate of the host is not valid"],
];

/**
 * Turns any failure into an error that may be shown. It has no cause, because Node's errors can hold received bytes.
 */
export function explainFailure(error: unknown): EgressError {
  if (error instanceof EgressError) return error;
  const code = errorCode(error);
  return new EgressError(meanings.find(([pattern]) => pattern.test(code))?.[1] ?? unreachable);
}
