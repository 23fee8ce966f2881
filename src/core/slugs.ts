/** The slug of an agent, as far as its characters go; the API keeps some words to itself (`isSlug` of the agents). */
export const agentSlugPattern = /^[a-z0-9_.-]{1,128}$/;
