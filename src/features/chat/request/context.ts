import type { Context } from "hono";
import { EngineError } from "../../../core/errors.ts";
import { isObject } from "../../../core/json.ts";
import type { AppEnv } from "../../../http/environment.ts";
import type { JsonObject, JsonValue } from "../../../turn/types.ts";
import { AgentRefusal, refuseKey } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import { type DoorGrant, requireTrusted } from "./agent-key.ts";
import type { ParsedRequest } from "./read.ts";

/**
 * The values that the `context` of a request writes to the conversation's state, through the agent's mapping; null for
 * a request without `context`. Throws the refusals of decisions §5 "Context", in their order.
 */
export function projectContext(
  c: Context<AppEnv>,
  chat: Chat,
  { body: { context }, input }: ParsedRequest,
  { agent, by, holdsKey }: DoorGrant,
): JsonObject | null {
  if (context === undefined) return null;
  if (input.chatId === null) throw new EngineError("bad-request", "context requires chat_id");
  if (!isObject(context)) throw new EngineError("bad-request", "context must be an object");
  const mapping = Object.entries(agent.web.contextMapping);
  if (mapping.length === 0) {
    throw new AgentRefusal(
      "bad-request",
      "This agent maps no web context fields: configure them before sending context",
    );
  }
  if (by.type === "client" && !holdsKey) {
    const refusal = refuseKey(agent, by.authorization, "Call context requires the agent's API key");
    if (refusal) throw refusal;
    requireTrusted(c, chat, agent.row);
  }
  return project(context, mapping);
}

/** The values at the dotted paths, by state key. An absent value is skipped; null is a value. */
export function project(context: JsonObject, mapping: readonly (readonly [string, string])[]): JsonObject {
  const found = mapping.flatMap(([key, path]) => {
    const value = valueAt(context, path);
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(found);
}

function valueAt(context: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = context;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}
