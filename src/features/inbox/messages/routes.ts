import { errorAnswers, guarded, json, router } from "../../../http/route.ts";
import { listMessages } from "./read.ts";
import { retryMessage } from "./retry.ts";
import { ChannelMessagePage, MessagesQuery, messageParams, messagesParams, RetriedMessage } from "./schema.ts";

const tags = ["Channels"];
const path = "/api/instances/{slug}/channels/{type}/messages";

const list = guarded("agent.channel:read", {
  method: "get",
  path,
  operationId: "listChannelMessages",
  tags,
  summary: "What came and what left over a channel",
  description:
    "Messages of people, and the parts of replies and notices to them, the newest first, with what became of each. They are kept for 30 days. Web has none: its replies leave with the call.",
  request: { params: messagesParams, query: MessagesQuery },
  responses: { 200: json(ChannelMessagePage, "A page of them."), ...errorAnswers(404) },
});

const retry = guarded("agent.channel:write", {
  method: "post",
  path: `${path}/{id}/retry`,
  operationId: "retryChannelMessage",
  tags,
  summary: "Try a failed message again",
  description:
    "One that came is answered as if it came now; one that was to leave is sent, with the other parts of its reply that failed. 409 for one that did not fail, and for one of a person who stopped the agent since.",
  request: { params: messageParams },
  responses: { 200: json(RetriedMessage, "It will be tried again."), ...errorAnswers(404, 409) },
});

/** `/api/instances/{slug}/channels/{type}/messages`. `wake` starts jobs that are due. */
export function messageRoutes(wake: () => void) {
  return router()
    .openapi(list, async (c) => {
      const { slug, type } = c.req.valid("param");
      return c.json(await listMessages(c.var.ctx, slug, type, c.req.valid("query")), 200);
    })
    .openapi(retry, async (c) => {
      const { slug, type, id } = c.req.valid("param");
      const message = await retryMessage(c.var.ctx, slug, type, id);
      wake();
      return c.json({ message }, 200);
    });
}
