import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { Deleted } from "../../http/shapes.ts";
import { listConversations } from "./list.ts";
import {
  ConversationChange,
  ConversationPage,
  ConversationQuery,
  ConversationState,
  conversationPath,
  HookExecutions,
  HookQuery,
  MessagePage,
  MessageQuery,
  OneConversation,
} from "./schema.ts";
import { changeConversation, deleteConversation, getConversation, getState } from "./service.ts";
import { listHookExecutions, listMessages } from "./transcript.ts";

const tags = ["Conversations"];
const path = "/api/conversations/{conversationId}";
const params = conversationPath;

const list = guarded("conversation:read", {
  method: "get",
  path: "/api/conversations",
  operationId: "listConversations",
  tags,
  summary: "Conversations",
  description:
    "Of one agent, or of all within reach; those whose last message is newest come first. `from` and `to` are about the last message. One without messages is not listed.",
  request: { query: ConversationQuery },
  responses: { 200: json(ConversationPage, "A page of the conversations."), ...errorAnswers(404) },
});

const get = guarded("conversation:read", {
  method: "get",
  path,
  operationId: "getConversation",
  tags,
  summary: "A conversation",
  description: "What it is about, with whom, and how much was said; the messages are under `/messages`.",
  request: { params },
  responses: { 200: json(OneConversation, "The conversation."), ...errorAnswers(404) },
});

const rename = guarded("conversation:delete", {
  method: "patch",
  path,
  operationId: "renameConversation",
  tags,
  summary: "Rename a conversation",
  description:
    "Its place in the list stays. In the managed edition an Owner sets its `legalHold` too, which exempts it from deletion.",
  request: { params, body: jsonBody(ConversationChange) },
  responses: { 200: json(OneConversation, "The conversation as it is now."), ...errorAnswers(404) },
});

const remove = guarded("conversation:delete", {
  method: "delete",
  path,
  operationId: "deleteConversation",
  tags,
  summary: "Delete a conversation",
  description:
    "With its messages, its state, its files and the `output` of a task's run; a turn of it that is under way is stopped. What agents remember of it stays. There is no way back. One under legal hold stays: 409.",
  request: { params },
  responses: { 200: json(Deleted, "It is gone."), ...errorAnswers(404, 409) },
});

const messages = guarded("conversation:read", {
  method: "get",
  path: `${path}/messages`,
  operationId: "listMessages",
  tags,
  summary: "What was said",
  description:
    "The messages of a conversation, those of the agent with the steps that led to them. A page ends early where its messages have over 8 MiB together, and its `limit` says so: the next one begins at `offset` and `limit` together.",
  request: { params, query: MessageQuery },
  responses: { 200: json(MessagePage, "A page of the messages."), ...errorAnswers(404) },
});

const state = guarded("conversation:read", {
  method: "get",
  path: `${path}/state`,
  operationId: "getConversationState",
  tags,
  summary: "The state of a conversation",
  description: "What call context, hooks and tools put into it; `_private` is left out.",
  request: { params },
  responses: { 200: json(ConversationState, "The state."), ...errorAnswers(404) },
});

const hooks = guarded("conversation:read", {
  method: "get",
  path: `${path}/hooks`,
  operationId: "listHookExecutions",
  tags,
  summary: "What hooks did in a conversation",
  description:
    "In order; the newest ones, unless `offset` asks for older ones. Fewer than `limit` where they have over 8 MiB together. Arguments and results of more than 64 KiB are stored shortened, with `…` where something is missing.",
  request: { params, query: HookQuery },
  responses: { 200: json(HookExecutions, "The executions."), ...errorAnswers(404) },
});

/** `/api/conversations` (spec "Conversations"). */
export const conversationRoutes = router()
  .openapi(list, async (c) => c.json(await listConversations(c.var.ctx, c.req.valid("query")), 200))
  .openapi(get, async (c) => {
    const conversation = await getConversation(c.var.ctx, c.req.valid("param").conversationId);
    return c.json({ conversation }, 200);
  })
  .openapi(rename, async (c) => {
    const { conversationId } = c.req.valid("param");
    const conversation = await changeConversation(c.var.ctx, conversationId, c.req.valid("json"));
    return c.json({ conversation }, 200);
  })
  .openapi(remove, async (c) => {
    await deleteConversation(c.var.ctx, c.req.valid("param").conversationId);
    return c.json({ deleted: true as const }, 200);
  })
  .openapi(messages, async (c) => {
    const { conversationId } = c.req.valid("param");
    return c.json(await listMessages(c.var.ctx, conversationId, c.req.valid("query")), 200);
  })
  .openapi(state, async (c) => {
    const { conversationId } = c.req.valid("param");
    return c.json({ state: await getState(c.var.ctx, conversationId) }, 200);
  })
  .openapi(hooks, async (c) => {
    const { conversationId } = c.req.valid("param");
    return c.json(await listHookExecutions(c.var.ctx, conversationId, c.req.valid("query")), 200);
  });
