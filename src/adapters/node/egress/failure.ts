import { explainConnection } from "../../../core/egress/connection.ts";
import { EgressError } from "../../../core/egress/target.ts";
import { errorCode } from "../error-code.ts";

/**
 * Turns any failure into an error that may be shown. It has no cause, since Node's errors may contain received bytes.
 */
export function explainFailure(error: unknown): EgressError {
  return error instanceof EgressError ? error : new EgressError(explainConnection(errorCode(error)));
}
