/** The prompt of a turn: prepared once per agent as cached, or at once; and what tells two prepared prompts apart. */
export { assemblePrompt, type PreparedPrompt, preparePrompt, unfilled } from "./assemble.ts";
/** The value of `{{datetime}}`. */
export { datetimeIn } from "./datetime.ts";
/** `/api/instances/{slug}/prompts`. */
export { promptRoutes } from "./routes.ts";
export type { PromptKey, StoredPrompts } from "./sections.ts";
/** What was written for an agent. */
export { loadPrompts } from "./service.ts";
export type { FixedValues, TurnValues } from "./template.ts";
