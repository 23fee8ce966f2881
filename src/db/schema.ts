export * from "./agents.ts";
export * from "./conversations.ts";
export * from "./identity.ts";
export * from "./memories.ts";
export * from "./messengers.ts";
export * from "./work.ts";
