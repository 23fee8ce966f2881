import type { Contribution } from "../../contribution.ts";
import { promptRoutes } from "./routes.ts";

/**
 * The prompt of a turn, prepared once for a cached agent or written at once; `unfilled` makes two prompts comparable.
 */
export { assemblePrompt, type PreparedPrompt, preparePrompt, unfilled } from "./assemble.ts";
/** The value of `{{datetime}}`. */
export { datetimeIn } from "./datetime.ts";
/** The sections that a bundle holds. */
export { bundledPrompts } from "./schema.ts";
/** Whether a section has the engine's own text, which is not stored. */
export { isDefault as isDefaultPrompt } from "./sections.ts";
/** The sections that were written for an agent. */
export { exportPrompts, importPrompts, loadPrompts } from "./service.ts";

/** `/api/instances/{slug}/prompts`. */
export const promptsFeature: Contribution = { routes: [promptRoutes] };
