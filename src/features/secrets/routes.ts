import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { Deleted } from "../../http/shapes.ts";
import { slugParam } from "../agents/index.ts";
import { SecretList, SecretsBody, secretParams } from "./schema.ts";
import { deleteSecret, listSecrets, putSecrets } from "./service.ts";

const tags = ["Secrets"];
const path = "/api/instances/{slug}/secrets";

const list = guarded("agent.secret:read", {
  method: "get",
  path,
  operationId: "listAgentSecrets",
  tags,
  summary: "Which secrets an agent has",
  description: "The well-known keys first, stored or not, then the agent's own. Values are never answered.",
  request: { params: slugParam },
  responses: { 200: json(SecretList, "The keys."), ...errorAnswers(404) },
});

const put = guarded("agent.secret:write", {
  method: "put",
  path,
  operationId: "putAgentSecrets",
  tags,
  summary: "Store secrets of an agent",
  description:
    "Adds to what is stored and replaces equal keys; an empty value is skipped, and so is one that is stored already: where nothing else is sent, nothing changes. Takes effect with the next turn. Values of at least six characters are blotted out of whatever the agent says. `auth_api_key` must be no other agent's and have at least 16 characters. A `<provider>_base_url` leads to public addresses and the hosts of the policy `httpAllowedHosts` only; one of another origin than the provider's address so far deletes the stored `<provider>_api_key`, which `dropped` then names, unless the same request brings the key. An agent keeps at most 256 KiB of secrets and variables of skills, each counted in UTF-8 and with 28 bytes for its encryption; more is 400. With the feature `providers`, the keys and addresses of model providers are 400 `Use provider connections`.",
  request: { params: slugParam, body: jsonBody(SecretsBody) },
  responses: { 200: json(SecretList, "The keys."), ...errorAnswers(404, 409) },
});

const remove = guarded("agent.secret:write", {
  method: "delete",
  path: `${path}/{key}`,
  operationId: "deleteAgentSecret",
  tags,
  summary: "Delete a secret of an agent",
  description:
    "Takes effect with the next turn. Deleting what is not there is fine. With a `<provider>_base_url` goes the stored `<provider>_api_key`, where the provider's address becomes another one by that.",
  request: { params: secretParams },
  responses: { 200: json(Deleted, "It is gone."), ...errorAnswers(404) },
});

/** `/api/instances/{slug}/secrets`. */
export const secretRoutes = router()
  .openapi(list, async (c) => c.json({ secrets: await listSecrets(c.var.ctx, c.req.valid("param").slug) }, 200))
  .openapi(put, async (c) => {
    return c.json(await putSecrets(c.var.ctx, c.req.valid("param").slug, c.req.valid("json").secrets), 200);
  })
  .openapi(remove, async (c) => {
    const { slug, key } = c.req.valid("param");
    await deleteSecret(c.var.ctx, slug, key);
    return c.json({ deleted: true as const }, 200);
  });
