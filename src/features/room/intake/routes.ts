import { readBody } from "../../../http/body.ts";
import { clientKey } from "../../../http/callers/address.ts";
import { errorAnswers, json, router, webhookOfAnySize } from "../../../http/route.ts";
import { mostPayloadBytes } from "../events/payload.ts";
import type { Receive } from "./receive.ts";
import { EventAnswer, eventContent, webhookPath } from "./schema.ts";

const webhook = webhookOfAnySize({
  method: "post",
  path: "/webhooks/{webhookToken}",
  operationId: "receiveEvent",
  tags: ["Room"],
  summary: "Events for an agent's Room",
  description:
    "A sender calls it with an event of an event source: any JSON, or a form, of at most 65,536 bytes. The address is the credential; where the source has an `authKey`, the call must bring it too. The event is stored before it is answered, and matched by the source's definitions in the background. The answer is 200 whatever comes of it; `ok` is false for a payload that is too large, an unknown token, another content type and a payload that can't be read, checked in this order, the key behind the token. Each call of a known source stands in the ledger, but for those without its key. A 503 means that nothing was stored: send it again. It comes with `Retry-After: 60` while 5,000 events of the agent wait to be matched or for their turns, or as many as are left of the 20,000 of its organization.",
  request: { params: webhookPath, body: { content: eventContent, required: true } },
  responses: {
    200: {
      ...json(EventAnswer, "It is stored, or not: see `ok`."),
      content: {
        "application/json": {
          schema: EventAnswer,
          examples: {
            stored: { summary: "It is stored", value: { ok: true } },
            tooLarge: { summary: "More than 65,536 bytes", value: { ok: false, error: "payload too large" } },
            unknown: { summary: "No source has this token", value: { ok: false, error: "unknown token" } },
          },
        },
      },
    },
    ...errorAnswers(401),
  },
});

/** `/webhooks/{webhookToken}`: where senders bring events. */
export function intakeRoutes(receive: Receive) {
  return router().openapi(webhook, async (c) => {
    const answer = await receive({
      token: c.req.valid("param").webhookToken,
      body: await readBody(c, mostPayloadBytes),
      contentType: c.req.header("Content-Type"),
      authorization: c.req.header("Authorization"),
      client: clientKey(c.var.ip),
      log: c.var.log,
    });
    return c.json(answer, 200);
  });
}
