// A client of Agent Engine's HTTP API for every runtime with `fetch`. It has no dependencies.
import { operations } from "./generated/operations.ts";
import type { AgentEngine } from "./generated/types.ts";
import type { CallOptions, ClientOptions } from "./options.ts";
import { type Input, send, stream } from "./send.ts";

export { type Chat, type ChatDoor, type ChatOptions, createChat } from "./chat.ts";
export { AgentEngineError, StreamCutError } from "./errors.ts";
export type * from "./generated/types.ts";
export type { CallOptions, ClientOptions, Token } from "./options.ts";
export { messageIdOf } from "./resume.ts";

/**
 * A client of the server at `baseUrl`, with a method for each operation. A method resolves to the response's body and
 * rejects with an `AgentEngineError` when the server refuses; nothing is retried. `createChat` makes a chat that
 * survives broken connections.
 */
export function createAgentEngine(options: ClientOptions): AgentEngine {
  const methods = Object.entries(operations).map(([name, operation]) => {
    const run = operation.answer === "events" ? stream : send;
    return [name, (input: Input = {}, call: CallOptions = {}) => run(options, operation, input, call)];
  });
  return Object.fromEntries(methods) as AgentEngine;
}
