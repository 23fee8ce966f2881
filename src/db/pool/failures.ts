import { EngineError } from "../../core/errors.ts";

/** The system's and the driver's codes for a connection that broke or was never made. */
const broken = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "ETIMEDOUT",
]);

/** SQLSTATEs of a server that is down, full, refusing or read-only: a later attempt may succeed. */
const unable = /^(08|28|3D|53|57P)|^25006$/;

export const isUnable = (error: unknown): boolean => unable.test(failureCode(error) ?? "");

/** The code of an error, or of its nearest cause that has one: a SQLSTATE, or a code of the system or the driver. */
export function failureCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return "code" in error && typeof error.code === "string" ? error.code : failureCode(error.cause);
}

/** The SQLSTATE of an error that the database raised; undefined for others. */
export function sqlState(error: unknown): string | undefined {
  const code = failureCode(error);
  return code && /^[0-9A-Z]{5}$/.test(code) && !broken.has(code) ? code : undefined;
}

const readOnly = "25006";

/** Whether the server refused a write: it is a standby, or read-only. */
export const isReadOnly = (error: unknown): boolean => failureCode(error) === readOnly;

/** The error of a server that says it takes no writes, as it would fail a write. */
export const takesNoWrites = () => Object.assign(new Error("The server takes no writes"), { code: readOnly });

/** Whether an error means that its connection is lost: it broke, or the server ends it. */
export function isBroken(error: unknown): boolean {
  return (
    broken.has(failureCode(error) ?? "") ||
    (error instanceof Error && "severity" in error && error.severity === "FATAL")
  );
}

export const tooLate = (cause?: unknown) =>
  new EngineError("unavailable", "The database did not answer in time", { cause });

/**
 * The error that callers get for a failed statement: a 503 when a retry helps, else the error without the row's values.
 */
export function toCallersError(error: unknown): unknown {
  const code = failureCode(error);
  if (code === "57014") return tooLate(error);
  if (isBroken(error) || isUnable(error)) {
    return new EngineError("unavailable", "The database is unavailable", { cause: error });
  }
  // `detail` quotes the row's values, which must not reach a log.
  if (error instanceof Error && "detail" in error) delete error.detail;
  return error;
}
