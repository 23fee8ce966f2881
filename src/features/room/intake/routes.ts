import type { Context } from "hono";
import { EngineError, type ErrorCode } from "../../../core/errors.ts";
import { holdBody, readBody } from "../../../http/body.ts";
import { clientKey } from "../../../http/callers/address.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { noRoute } from "../../../http/paths.ts";
import { errorAnswers, json, router, webhook } from "../../../http/route.ts";
import { mostPayloadBytes, type PayloadProblem } from "../events/payload.ts";
import type { Receive } from "./receive.ts";
import { EventAnswer, eventContent, webhookPath } from "./schema.ts";

const event = webhook({
  method: "post",
  path: "/webhooks/{webhookToken}",
  operationId: "receiveEvent",
  tags: ["Room"],
  summary: "Events for an agent's Room",
  description:
    "A sender calls it with an event of an event source: any JSON, or a form, of at most 65,536 bytes, and of as many once it is decoded where it comes with `Content-Encoding: gzip`. The address is the credential; where the source has an `authKey`, the call must bring it too. The event is stored before it is answered, and matched by the source's definitions in the background. The answer is 200 whatever comes of it; `ok` is false for a payload that is too large, an unknown token, another content type and a payload that can't be read, checked in this order, the key behind the token. Each call of a known source stands in the ledger, but for those without its key. A 503 means that nothing was stored: send it again. It comes with `Retry-After: 60` while 5,000 events of the agent wait to be matched or for their turns, or as many as are left of the 20,000 of its organization.",
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

/** `/webhooks/{webhookToken}`: the webhooks of event sources. */
export function intakeRoutes(receive: Receive) {
  const routes = router();
  // A webhook of managed builds only (decisions §1, "Edition"); not a token.
  routes.all("/webhooks/hubspot", (c) => {
    throw noRoute(c.req.path);
  });
  return routes.openapi(event, async (c) => {
    const held = holdBody(c);
    try {
      const answer = await receive({
        token: c.req.valid("param").webhookToken,
        body: await readPayloadBody(c, held.grow),
        contentType: c.req.header("Content-Type"),
        authorization: c.req.header("Authorization"),
        client: clientKey(c.var.ip),
        log: c.var.log,
      });
      return c.json(answer, 200);
    } finally {
      held.end();
    }
  });
}

/** Problems of a body that get a 200, since a retry of the sender would fix none of them. */
const problems: Partial<Record<ErrorCode, PayloadProblem>> = {
  "too-large": "payload too large",
  "unsupported-media-type": "unsupported content type",
  "bad-request": "invalid payload",
};

async function readPayloadBody(
  c: Context<AppEnv>,
  grow: (bytes: number) => void,
): Promise<Uint8Array | PayloadProblem> {
  try {
    return await readBody(c, mostPayloadBytes, grow);
  } catch (error) {
    const problem = error instanceof EngineError ? problems[error.code] : undefined;
    if (problem === undefined) throw error;
    return problem;
  }
}
