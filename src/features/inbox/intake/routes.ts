import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { MessengerName, WebhookContent, WebhookHead } from "../../../core/channels/messengers.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import { holdBody, maxBodyBytes, readBody } from "../../../http/body.ts";
import { clientKey } from "../../../http/callers/address.ts";
import { calledUrl } from "../../../http/callers/origin.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { errorAnswers, router, webhook } from "../../../http/route.ts";
import { slugParam } from "../../agents/index.ts";
import { type MessengerChannel, openMessenger } from "../../channels/index.ts";
import type { StoreMessages } from "./store.ts";

const tags = ["Channels"];
const stored =
  "The head of a call is judged before its body is read, which has at most 1 MiB, also once it is decoded where it comes with `Content-Encoding: gzip`. A message is stored before it is acknowledged, and answered later. A message that came before is acknowledged and dropped. 404 when there is no such agent or it does not get its messages here; a message for an inactive agent is acknowledged and dropped. A 503 means that nothing was stored: it comes with `Retry-After: 60` while 5,000 messages to the agent wait to be answered, or as many as are left of the 20,000 of its organization.";

const telegram = webhook({
  method: "post",
  path: "/webhooks/telegram/{slug}",
  operationId: "receiveFromTelegram",
  tags,
  summary: "Updates from Telegram",
  description: `Telegram calls it with the secret that the channel was registered with, in \`X-Telegram-Bot-Api-Secret-Token\`. ${stored}`,
  request: { params: slugParam },
  responses: { 200: { description: "It is stored." }, ...errorAnswers(400, 401, 404, 413, 415) },
});

const slack = webhook({
  method: "post",
  path: "/webhooks/slack/{slug}",
  operationId: "receiveFromSlack",
  tags,
  summary: "Events from Slack",
  description: `Slack calls it with a signature of the body that is not older than 5 minutes. The answer to \`url_verification\` is its challenge. ${stored}`,
  request: { params: slugParam },
  responses: {
    200: { description: "It is stored, or the challenge.", content: { "text/plain": { schema: z.string() } } },
    ...errorAnswers(400, 401, 404, 413, 415),
  },
});

const twiml = {
  description: "It is stored.",
  content: { "text/xml": { schema: z.string().openapi({ example: "<Response/>" }) } },
};
/** This type has no content, since the types of handlers can't express it. */
const acknowledged: { 200: { description: string } } = { 200: twiml };

const whatsapp = webhook({
  method: "post",
  path: "/webhooks/twilio/{slug}/whatsapp",
  operationId: "receiveFromWhatsApp",
  tags,
  summary: "WhatsApp messages from Twilio, Auth Token mode",
  description: `Twilio signs the address that it calls and its parameters, in \`X-Twilio-Signature\`. ${stored}`,
  request: { params: slugParam },
  responses: { ...acknowledged, ...errorAnswers(400, 403, 404, 413, 415) },
});

const whatsappBySecret = webhook({
  method: "post",
  path: "/webhooks/twilio/{slug}/whatsapp/{webhookSecret}",
  operationId: "receiveFromWhatsAppBySecret",
  tags,
  summary: "WhatsApp messages from Twilio, API Key mode",
  description: `The address has the channel's secret, since Twilio signs nothing for API keys. ${stored}`,
  request: {
    params: slugParam.extend({
      webhookSecret: z.string().openapi({ description: "The channel's secret.", example: "3q2-7wXj" }),
    }),
  },
  responses: { ...acknowledged, ...errorAnswers(400, 404, 413, 415) },
});

/** `/webhooks/…`: the webhooks of the messengers. */
export function webhookRoutes(store: StoreMessages) {
  const take = async (c: Context<AppEnv>, of: WebhookPath) => {
    const { admission } = c.var.services;
    const share = ["webhooks", of.slug, clientKey(c.var.ip)] as const;
    await admission.during(share, () => findCalled(c, of));
    const held = holdBody(c);
    try {
      const body = await readBody(c, maxBodyBytes, held.grow);
      return await admission.during(share, () => receive(c, store, of, body));
    } finally {
      held.end();
    }
  };
  return router()
    .openapi(telegram, async (c) => {
      await take(c, { ...c.req.valid("param"), name: "telegram" });
      return c.body(null, 200);
    })
    .openapi(slack, async (c) => c.text((await take(c, { ...c.req.valid("param"), name: "slack" })) ?? "", 200))
    .openapi(whatsapp, async (c) => {
      await take(c, { ...c.req.valid("param"), name: "whatsapp" });
      return c.body("<Response/>", 200, xml);
    })
    .openapi(whatsappBySecret, async (c) => {
      await take(c, { ...c.req.valid("param"), name: "whatsapp" });
      return c.body("<Response/>", 200, xml);
    });
}

const xml = { "Content-Type": "text/xml" };

interface WebhookPath {
  slug: string;
  name: MessengerName;
  webhookSecret?: string;
}

/** The channel of a request. Throws the refusals that the request's head decides. */
async function findCalled(
  c: Context<AppEnv>,
  { slug, name, webhookSecret = undefined }: WebhookPath,
): Promise<{ channel: MessengerChannel; head: WebhookHead }> {
  const { services } = c.var;
  const pathSecret = webhookSecret ?? null;
  const channel = await openMessenger(services, { slug }, name);
  if (!channel?.enabled || !channel.webhook || channel.secretInPath !== (pathSecret !== null)) throw noChannel();
  const { secret } = channel.webhook;
  const head = { headers: c.req.raw.headers, secret, pathSecret };
  const status = channel.account.refuses(head, services.clock.now());
  if (status !== null) throw refusals[status]();
  return { channel, head };
}

/**
 * Stores the arrivals in a request. Returns the response text that the messenger expects, or null. Throws the refusals.
 */
async function receive(
  c: Context<AppEnv>,
  store: StoreMessages,
  called: WebhookPath,
  body: Uint8Array<ArrayBuffer>,
): Promise<string | null> {
  // Read again: the channel may have changed while the body arrived.
  const { channel, head } = await findCalled(c, called);
  const call = { ...head, url: calledUrl(c), body };
  const received = await channel.account.receive(call, c.var.services.clock.now());
  if (received.kind === "arrivals") await store(channel, received.arrivals);
  return answerTo(received);
}

const noChannel = () => notFound("Channel");

function answerTo(received: WebhookContent): string | null {
  switch (received.kind) {
    case "arrivals":
      return null;
    case "answer":
      return received.text;
    case "later":
      throw new EngineError("unavailable", "The message can't be read just now: send it again", {
        retryAfterSeconds: 5,
      });
    case "refused":
      throw refusals[received.status]();
  }
}

const refusals = {
  401: () => new EngineError("unauthorized", "The call is not proven to come from the messenger"),
  403: () => new EngineError("forbidden", "The call is not proven to come from the messenger"),
  404: noChannel,
} as const;
