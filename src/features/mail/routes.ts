import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { Deleted } from "../../http/shapes.ts";
import { NewRelay, RelayAnswer, TestMail, TestResult } from "./schema.ts";
import { deleteRelay, saveRelay, showRelay, testRelay } from "./service.ts";

const tags = ["Installation"];
const path = "/api/installation/mail-relay";
const options = { installation: true, sessionOnly: true, feature: "administration" } as const;

const show = guarded(
  "policy:manage",
  {
    method: "get",
    path,
    operationId: "getMailRelay",
    tags,
    summary: "The mail relay",
    description:
      "The SMTP server that sends invitations and links to reset a password; null when there is none: then no mail is sent.",
    responses: { 200: json(RelayAnswer, "The relay.") },
  },
  options,
);

const save = guarded(
  "policy:manage",
  {
    method: "put",
    path,
    operationId: "setMailRelay",
    tags,
    summary: "Set the mail relay",
    description:
      "Replaces all fields; a password stays that is not given. It is stored sealed and shown as a mask, and another host, port or user name needs it again. The relay is the operator's own: it may be in a private network.",
    request: { body: jsonBody(NewRelay) },
    responses: { 200: json(RelayAnswer, "The relay as it is now.") },
  },
  options,
);

const remove = guarded(
  "policy:manage",
  {
    method: "delete",
    path,
    operationId: "deleteMailRelay",
    tags,
    summary: "Delete the mail relay",
    description: "No mail is sent from then on; mails that wait are dropped.",
    responses: { 200: json(Deleted, "It is deleted."), ...errorAnswers(404) },
  },
  options,
);

const test = guarded(
  "policy:manage",
  {
    method: "post",
    path: `${path}/test`,
    operationId: "testMailRelay",
    tags,
    summary: "Send a test mail",
    description:
      "Sends a mail through the stored relay at once, and tells within 30 seconds whether the relay accepted it.",
    request: { body: jsonBody(TestMail) },
    responses: { 200: json(TestResult, "How it went."), ...errorAnswers(409) },
  },
  options,
);

/** `/api/installation/mail-relay`. */
export const mailRoutes = router()
  .openapi(show, async (c) => c.json({ relay: await showRelay(c.var.ctx) }, 200))
  .openapi(save, async (c) => c.json({ relay: await saveRelay(c.var.ctx, c.req.valid("json")) }, 200))
  .openapi(remove, async (c) => {
    await deleteRelay(c.var.ctx);
    return c.json({ deleted: true as const }, 200);
  })
  .openapi(test, async (c) => c.json(await testRelay(c.var.ctx, c.req.valid("json").to), 200));
