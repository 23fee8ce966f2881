import { openEdition } from "../core/edition.ts";
import { version } from "../core/version.ts";
import type { createEngine } from "../engine.ts";

/** The options of an engine that serves no requests. */
export const unserved: Parameters<typeof createEngine>[0]["options"] = {
  version,
  edition: openEdition,
  trustProxy: 0,
  chatRequestsPerMinute: 0,
  baseUrl: "http://localhost",
  environmentKeys: new Map(),
  soleProcess: false,
  allowStdioMcp: false,
};
