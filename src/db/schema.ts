export * from "./agents.ts";
export * from "./conversations.ts";
export * from "./identity.ts";
