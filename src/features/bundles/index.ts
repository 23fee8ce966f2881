import type { Contribution } from "../../contribution.ts";
import type { Wake } from "./import.ts";
import { createBundleRoutes } from "./routes.ts";

/** The unknown fields of a value, for programs that read files. */
export { unknownFields } from "./read/unknown-fields.ts";
/** The file format of an agent, for programs that read such files. */
export { Bundle } from "./schema.ts";

/** Agents as files: `GET /api/instances/{slug}/export`, and the imports. */
export const bundlesFeature = (wake: Wake): Contribution => ({ routes: [createBundleRoutes(wake)] });
