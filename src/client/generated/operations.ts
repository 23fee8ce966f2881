// Made from openapi/openapi.json by `npm run generate`: change the routes instead.

import type { Operation } from "../options.ts";

import type { AgentEngine } from "./types.ts";

export const operations: Record<keyof AgentEngine, Operation> = {
  createChatCompletion: { method: "POST", path: "/v1/chat/completions", answer: "json" },
  streamChat: { method: "POST", path: "/api/instances/{slug}/chat/stream", answer: "events" },
  listModels: { method: "GET", path: "/v1/models", answer: "json" },
  getHealth: { method: "GET", path: "/health", answer: "json" },
  setUp: { method: "POST", path: "/api/setup", answer: "json" },
  signIn: { method: "POST", path: "/api/auth/sign-in/email", answer: "json" },
  signOut: { method: "POST", path: "/api/auth/sign-out", answer: "json" },
  getMe: { method: "GET", path: "/api/me", answer: "json" },
  listManagementKeys: { method: "GET", path: "/api/organizations/{orgSlug}/management-keys", answer: "json" },
  createManagementKey: { method: "POST", path: "/api/organizations/{orgSlug}/management-keys", answer: "json" },
  deleteManagementKey: { method: "DELETE", path: "/api/organizations/{orgSlug}/management-keys/{id}", answer: "json" },
  listAgents: { method: "GET", path: "/api/instances", answer: "json" },
  createAgent: { method: "POST", path: "/api/instances", answer: "json" },
  listProviderModels: { method: "GET", path: "/api/instances/models", answer: "json" },
  getAgent: { method: "GET", path: "/api/instances/{slug}", answer: "json" },
  updateAgent: { method: "PATCH", path: "/api/instances/{slug}", answer: "json", headers: { ifMatch: "if-match" } },
  deleteAgent: { method: "DELETE", path: "/api/instances/{slug}", answer: "json" },
  getAgentIcon: { method: "GET", path: "/api/instances/{slug}/icon", answer: "blob", query: { v: "v" } },
  putAgentIcon: { method: "PUT", path: "/api/instances/{slug}/icon", answer: "json" },
  deleteAgentIcon: { method: "DELETE", path: "/api/instances/{slug}/icon", answer: "json" },
  listAgentSecrets: { method: "GET", path: "/api/instances/{slug}/secrets", answer: "json" },
  putAgentSecrets: { method: "PUT", path: "/api/instances/{slug}/secrets", answer: "json" },
  deleteAgentSecret: { method: "DELETE", path: "/api/instances/{slug}/secrets/{key}", answer: "json" },
  listAgentChannels: { method: "GET", path: "/api/instances/{slug}/channels", answer: "json" },
  putAgentChannel: { method: "PUT", path: "/api/instances/{slug}/channels/{type}", answer: "json" },
  deleteAgentChannel: { method: "DELETE", path: "/api/instances/{slug}/channels/{type}", answer: "json" },
};
