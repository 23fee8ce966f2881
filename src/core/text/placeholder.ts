/** Patterns of the braces of a placeholder, in prompts, hooks and skills alike: blanks inside them mean nothing. */
export const opening = String.raw`\{\{\s*`;
export const closing = String.raw`\s*\}\}`;
