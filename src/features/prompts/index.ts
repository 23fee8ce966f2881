import type { Contribution } from "../../contribution.ts";
import { promptRoutes } from "./routes.ts";

/** The prompt of a turn: prepared once per agent as cached, or at once; and what tells two prepared prompts apart. */
export { assemblePrompt, type PreparedPrompt, preparePrompt, unfilled } from "./assemble.ts";
/** The value of `{{datetime}}`. */
export { datetimeIn } from "./datetime.ts";
export type { PromptKey, StoredPrompts } from "./sections.ts";
/** What was written for an agent. */
export { loadPrompts } from "./service.ts";
export type { FixedValues, TurnValues } from "./template.ts";

/** `/api/instances/{slug}/prompts`. */
export const promptsFeature: Contribution = { routes: [promptRoutes] };
