import { errorAnswers, guarded, router } from "../../http/route.ts";
import { findAgent } from "../agents/index.ts";
import { followedConversation, reachedEvents } from "./reach.ts";
import { ConversationStreamQuery, conversationAnswer, LiveQuery, lastSequenceHeader, liveAnswer } from "./schema.ts";
import type { ActivityStreams } from "./streams.ts";

const tags = ["Activity"];
const path = "/api/activity-stream";
const unlimited = { unlimited: true };
const headers = lastSequenceHeader;

const caps =
  "It does not count for the policy `rateLimit`. More streams of this process, or of one caller, than the policy `activityConnections` allows are 503 with `Retry-After: 60`.";

const live = guarded(
  "conversation:read",
  {
    method: "get",
    path: `${path}/live`,
    operationId: "streamActivity",
    tags,
    summary: "What happens at this moment",
    description: `Server-sent events of all agents within reach: the last ones first, of at most 100 that the server keeps for all, then what happens. A client that reads slowly loses the oldest of more than 200 unread events, and a comment says so. The stream ends within 5 seconds when the caller's rights end or change. ${caps}`,
    request: { query: LiveQuery, headers },
    responses: { 200: liveAnswer, ...errorAnswers(404) },
  },
  unlimited,
);

const conversation = guarded(
  "conversation:read",
  {
    method: "get",
    path: `${path}/conversation`,
    operationId: "streamConversationActivity",
    tags,
    summary: "What happens in a conversation",
    description: `The live stream of one conversation. Besides, a named event \`persisted\` tells of each message and hook execution that was stored, so that a client can read the transcript again. ${caps}`,
    request: { query: ConversationStreamQuery, headers },
    responses: { 200: conversationAnswer, ...errorAnswers(404) },
  },
  unlimited,
);

const conversations = guarded(
  "conversation:read",
  {
    method: "get",
    path: `${path}/conversations`,
    operationId: "streamConversations",
    tags,
    summary: "What happens, and what is stored of it",
    description: `The live stream of all agents within reach. Besides, \`persisted\` tells of each message and hook execution that was stored, with its conversation: one stream for a client that shows several conversations. ${caps}`,
    request: { headers },
    responses: { 200: conversationAnswer },
  },
  unlimited,
);

/** `/api/activity-stream` (spec "Activity stream"). */
export function activityRoutes(streams: ActivityStreams) {
  return router()
    .openapi(live, async (c) => {
      const { ctx } = c.var;
      const { instance } = c.req.valid("query");
      const agentId = instance === undefined ? null : (await findAgent(ctx, instance)).id;
      const { sees } = await reachedEvents(ctx, agentId);
      return streams.open(c, { agentId, conversationId: null, conversation: null, sees });
    })
    .openapi(conversations, async (c) => {
      const reached = await reachedEvents(c.var.ctx, null);
      return streams.open(c, { agentId: null, conversationId: null, conversation: null, ...reached });
    })
    .openapi(conversation, async (c) => {
      const { conversationId, instanceId } = c.req.valid("query");
      return streams.open(c, await followedConversation(c.var.ctx, conversationId, instanceId));
    });
}
