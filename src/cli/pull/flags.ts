export const pullFlags = {
  force: { type: "boolean", description: "Replace files that say something else." },
} as const;
