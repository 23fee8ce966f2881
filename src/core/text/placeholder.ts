/** Patterns for the braces of a placeholder, in prompts, hooks and skills: spaces inside them are ignored. */
export const opening = String.raw`\{\{\s*`;
export const closing = String.raw`\s*\}\}`;
