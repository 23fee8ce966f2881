import { errorAnswers, guarded, json, router } from "../../http/route.ts";
import { Deleted } from "../../http/shapes.ts";
import { slugParam } from "../agents/index.ts";
import { channelType, isMessenger } from "./rules.ts";
import { ChannelAnswer, ChannelChanges, ChannelList, ChannelTest, channelParams, configChanges } from "./schema.ts";
import { listChannels, saveChannel, testChannel, turnOffChannel } from "./service.ts";

const tags = ["Channels"];
const path = "/api/instances/{slug}/channels";

const examples = {
  web: {
    value: { enabled: true, config: { apiKey: "sk-agent-of-your-own", allowedOrigins: ["https://example.com"] } },
  },
  telegram: { value: { enabled: true, config: { botToken: "123456789:AAE-example-of-a-token" } } },
  slack: {
    value: {
      enabled: true,
      config: { botToken: "xoxb-example-token", signingSecret: "8f742231b10e8888abcd99yyyzzz85a5" },
    },
  },
  whatsapp: {
    value: {
      enabled: true,
      config: {
        accountSid: `AC${"0".repeat(32)}`,
        authToken: "example-auth-token",
        whatsappNumber: "+390612345678",
      },
    },
  },
  agent: { value: { enabled: false } },
};

const list = guarded("agent.channel:read", {
  method: "get",
  path,
  operationId: "listAgentChannels",
  tags,
  summary: "Where an agent is reached",
  description:
    "Each channel, on or off, with how far its start is. Credentials are shown as masks, which may be sent back. The channel `agent` is on unless it was turned off: other agents of the workspace may ask this one.",
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
    "Fields that are left out stay as they are. A channel can't be turned on without what it needs: the 400 names each field; what comes in the same request counts. A messenger's channel that is on starts anew with each save, in the background: `status` and `lastError` say how that went. 409: another agent uses the same bot, or the same key of Web.",
  request: {
    params: channelParams,
    body: { required: true, content: { "application/json": { schema: ChannelChanges, examples } } },
  },
  responses: { 200: json(ChannelAnswer, "The channel as it is now."), ...errorAnswers(404, 409) },
});

const remove = guarded("agent.channel:write", {
  method: "delete",
  path: `${path}/{type}`,
  operationId: "deleteAgentChannel",
  tags,
  summary: "Turn a channel off",
  description:
    "A messenger's credentials are forgotten, and the messenger is told to call no more. Web keeps its key and its context mapping. Turning off what is off is fine.",
  request: { params: channelParams },
  responses: { 200: json(Deleted, "It is off."), ...errorAnswers(404) },
});

const test = guarded("agent.channel:write", {
  method: "post",
  path: `${path}/{type}/test`,
  operationId: "testAgentChannel",
  tags,
  summary: "Ask a messenger whether a channel works",
  description:
    "Whether the messenger takes the credentials and, while the channel is on, whether its calls arrive: asked of the messenger where it tells, and by a call of this server's own public address. Sends no message and changes nothing. 400 for what has no account at a messenger, and where the stored settings do not suffice.",
  request: { params: channelParams.extend({ type: channelParams.shape.type.openapi({ example: "telegram" }) }) },
  responses: { 200: json(ChannelTest, "Each check, and whether all went well."), ...errorAnswers(404) },
});

/** `/api/instances/{slug}/channels`. `wake` starts the background job of a messenger's change at once. */
export function createChannelRoutes(wake: () => void) {
  const routes = router()
    .openapi(list, async (c) => c.json({ channels: await listChannels(c.var.ctx, c.req.valid("param").slug) }, 200))
    .openapi(put, async (c) => {
      const { slug, type } = c.req.valid("param");
      const channel = await saveChannel(c.var.ctx, slug, channelType(type), c.req.valid("json"));
      if (isMessenger(channel.channelType)) wake();
      return c.json({ channel }, 200);
    })
    .openapi(remove, async (c) => {
      const { slug, type } = c.req.valid("param");
      const channel = channelType(type);
      await turnOffChannel(c.var.ctx, slug, channel);
      if (isMessenger(channel)) wake();
      return c.json({ deleted: true as const }, 200);
    })
    .openapi(test, async (c) => {
      const { slug, type } = c.req.valid("param");
      return c.json(await testChannel(c.var.ctx, slug, channelType(type)), 200);
    });
  // Registered here, since no route refers to these schemas: the path decides which schema a body has.
  for (const [name, schema] of Object.entries(configChanges)) routes.openAPIRegistry.register(name, schema);
  return routes;
}
