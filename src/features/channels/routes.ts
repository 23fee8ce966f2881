import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { Deleted } from "../../http/shapes.ts";
import { slugParam } from "../agents/index.ts";
import { channelType } from "./rules.ts";
import { ChannelAnswer, ChannelChanges, ChannelList, channelParams } from "./schema.ts";
import { getWeb, saveWeb, turnOffWeb } from "./web/service.ts";

const tags = ["Channels"];
const path = "/api/instances/{slug}/channels";

const list = guarded("agent.channel:read", {
  method: "get",
  path,
  operationId: "listAgentChannels",
  tags,
  summary: "Where an agent is reached",
  description: "Each channel of this release, on or off. Credentials are never answered.",
  request: { params: slugParam },
  responses: { 200: json(ChannelList, "The channels."), ...errorAnswers(404) },
});

const put = guarded("agent.channel:write", {
  method: "put",
  path: `${path}/{type}`,
  operationId: "putAgentChannel",
  tags,
  summary: "Set up a channel and turn it on or off",
  description:
    "Fields that are left out stay as they are. Web can't be turned on with authentication and without a key; a key in the same request counts.",
  request: { params: channelParams, body: jsonBody(ChannelChanges) },
  responses: { 200: json(ChannelAnswer, "The channel as it is now."), ...errorAnswers(404, 409) },
});

const remove = guarded("agent.channel:write", {
  method: "delete",
  path: `${path}/{type}`,
  operationId: "deleteAgentChannel",
  tags,
  summary: "Turn a channel off",
  description: "Web keeps its key and its context mapping. Turning off what is off is fine.",
  request: { params: channelParams },
  responses: { 200: json(Deleted, "It is off."), ...errorAnswers(404) },
});

/** `/api/instances/{slug}/channels`. */
export const channelRoutes = router()
  .openapi(list, async (c) => c.json({ channels: [await getWeb(c.var.ctx, c.req.valid("param").slug)] }, 200))
  .openapi(put, async (c) => {
    const { slug, type } = c.req.valid("param");
    channelType(type);
    return c.json({ channel: await saveWeb(c.var.ctx, slug, c.req.valid("json")) }, 200);
  })
  .openapi(remove, async (c) => {
    const { slug, type } = c.req.valid("param");
    channelType(type);
    await turnOffWeb(c.var.ctx, slug);
    return c.json({ deleted: true as const }, 200);
  });
