import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { Deleted } from "../../../http/shapes.ts";
import { CreatedToken, NewToken, PersonalTokens, tokenPath } from "./schema.ts";
import { createToken, deleteToken, listTokens } from "./service.ts";

const tags = ["Account"];
const path = "/api/me/tokens";
const administration = { feature: "administration" } as const;

const listRoute = guarded(
  null,
  {
    method: "get",
    path,
    operationId: "listPersonalTokens",
    tags,
    summary: "List personal tokens",
    description: "The current user's tokens that have not expired, without the tokens themselves.",
    responses: { 200: json(PersonalTokens, "The tokens, the newest first.") },
  },
  administration,
);

const createRoute = guarded(
  null,
  {
    method: "post",
    path,
    operationId: "createPersonalToken",
    tags,
    summary: "Create a personal token",
    description:
      "A token for programs that acts as the current user in the organization of this call, and is shown only here. It has the user's role there as it is with each call, and never more than that; `/api/me` and the playground refuse it. A Platform Admin's token of the scope `installation` names the organization of each call in `X-Organization` or in the path, and the audit log there tells of each use; it manages no accounts. A user has at most 20 tokens. 409 also for somebody whose password somebody else chose.",
    request: { body: jsonBody(NewToken) },
    responses: { 201: json(CreatedToken, "The token."), ...errorAnswers(409) },
  },
  administration,
);

const deleteRoute = guarded(
  null,
  {
    method: "delete",
    path: `${path}/{id}`,
    operationId: "deletePersonalToken",
    tags,
    summary: "Delete a personal token",
    description: "It stops working at once.",
    request: { params: tokenPath },
    responses: { 200: json(Deleted, "It is deleted."), ...errorAnswers(404) },
  },
  administration,
);

/** `/api/me/tokens`. */
export const tokenRoutes = router()
  .openapi(listRoute, async (c) => c.json({ tokens: await listTokens(c.var.ctx) }, 200))
  .openapi(createRoute, async (c) => c.json(await createToken(c.var.ctx, c.req.valid("json")), 201))
  .openapi(deleteRoute, async (c) => {
    await deleteToken(c.var.ctx, c.req.valid("param").id);
    return c.json({ deleted: true as const }, 200);
  });
