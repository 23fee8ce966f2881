import type { Contribution } from "../../contribution.ts";
import { promptRoutes } from "./routes.ts";

/** The prompt of a turn, prepared once for a cached agent or rendered at once; `unfilled` makes prompts comparable. */
export { assemblePrompt, type PreparedPrompt, preparePrompt, unfilled } from "./assemble.ts";
/** The value of `{{datetime}}`. */
export { datetimeIn } from "./datetime.ts";
/** The sections in a bundle. */
export { bundledPrompts } from "./schema.ts";
/** Whether a section has its default text, which is not stored. */
export { isDefault as isDefaultPrompt } from "./sections.ts";
/** The stored sections of an agent. */
export { exportPrompts, importPrompts, loadPrompts } from "./service.ts";

/** `/api/instances/{slug}/prompts`. */
export const promptsFeature: Contribution = { routes: [promptRoutes] };
