/** The characters and the length of an agent's slug. `isSlug` of the agents also refuses some words. */
export const agentSlugPattern = /^[a-z0-9_.-]{1,128}$/;
