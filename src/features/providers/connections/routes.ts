import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { Deleted, organizationPath } from "../../../http/shapes.ts";
import { slugParam } from "../../agents/index.ts";
import {
  ConnectionAnswer,
  ConnectionChanges,
  Connections,
  ConnectionTest,
  NewConnection,
  privatePath,
  sharedPath,
} from "./schema.ts";
import { createConnection, deleteConnection, listConnections, updateConnection } from "./service.ts";
import { testConnection } from "./test-call.ts";

const tags = ["Providers"];
const options = { feature: "providers" } as const;

const texts = {
  list: "With a hint of each key, and the roles that agents bind it to.",
  create: "At most 50 in a scope; the next one is 409. The key is stored sealed.",
  update:
    "Fields that are left out stay as they are, in force with the next turn. Another origin in `baseUrl` deletes the stored key, unless the same request brings one.",
  remove: "409 while an agent binds it to a role, as the first model or as a fallback.",
  test: "Requests the provider's list of models, which costs nothing. An address without an answer over HTTP is told after 5 seconds, whatever the cause.",
} as const;

const answers = {
  list: { 200: json(Connections, "The connections, by name."), ...errorAnswers(404) },
  create: { 201: json(ConnectionAnswer, "The connection."), ...errorAnswers(404, 409) },
  update: { 200: json(ConnectionAnswer, "The connection as it is now."), ...errorAnswers(404, 409) },
  remove: { 200: json(Deleted, "It is deleted."), ...errorAnswers(404, 409) },
  test: { 200: json(ConnectionTest, "Whether the provider answers."), ...errorAnswers(404) },
} as const;

const shared = "/api/organizations/{orgSlug}/provider-connections";

const listShared = guarded(
  "org.secret:read",
  {
    method: "get",
    path: shared,
    operationId: "listSharedConnections",
    tags,
    summary: "The provider connections of an organization",
    description: texts.list,
    request: { params: organizationPath },
    responses: answers.list,
  },
  options,
);

const createShared = guarded(
  "org.secret:write",
  {
    method: "post",
    path: shared,
    operationId: "createSharedConnection",
    tags,
    summary: "Connect an organization to a provider",
    description: `All its agents may bind it, where their workspace admits the provider. ${texts.create}`,
    request: { params: organizationPath, body: jsonBody(NewConnection) },
    responses: answers.create,
  },
  options,
);

const updateShared = guarded(
  "org.secret:write",
  {
    method: "patch",
    path: `${shared}/{id}`,
    operationId: "updateSharedConnection",
    tags,
    summary: "Change a provider connection of an organization",
    description: texts.update,
    request: { params: sharedPath, body: jsonBody(ConnectionChanges) },
    responses: answers.update,
  },
  options,
);

const deleteShared = guarded(
  "org.secret:write",
  {
    method: "delete",
    path: `${shared}/{id}`,
    operationId: "deleteSharedConnection",
    tags,
    summary: "Delete a provider connection of an organization",
    description: texts.remove,
    request: { params: sharedPath },
    responses: answers.remove,
  },
  options,
);

const testShared = guarded(
  "org.secret:write",
  {
    method: "post",
    path: `${shared}/{id}/test`,
    operationId: "testSharedConnection",
    tags,
    summary: "Test a provider connection of an organization",
    description: texts.test,
    request: { params: sharedPath },
    responses: answers.test,
  },
  options,
);

const own = "/api/instances/{slug}/provider-connections";

const listPrivate = guarded(
  "agent.secret:read",
  {
    method: "get",
    path: own,
    operationId: "listPrivateConnections",
    tags,
    summary: "The private provider connections of an agent",
    description: texts.list,
    request: { params: slugParam },
    responses: answers.list,
  },
  options,
);

const createPrivate = guarded(
  "agent.secret:write",
  {
    method: "post",
    path: own,
    operationId: "createPrivateConnection",
    tags,
    summary: "Connect one agent to a provider",
    description: `No other agent may bind it. ${texts.create}`,
    request: { params: slugParam, body: jsonBody(NewConnection) },
    responses: answers.create,
  },
  options,
);

const updatePrivate = guarded(
  "agent.secret:write",
  {
    method: "patch",
    path: `${own}/{id}`,
    operationId: "updatePrivateConnection",
    tags,
    summary: "Change a private provider connection",
    description: texts.update,
    request: { params: privatePath, body: jsonBody(ConnectionChanges) },
    responses: answers.update,
  },
  options,
);

const deletePrivate = guarded(
  "agent.secret:write",
  {
    method: "delete",
    path: `${own}/{id}`,
    operationId: "deletePrivateConnection",
    tags,
    summary: "Delete a private provider connection",
    description: texts.remove,
    request: { params: privatePath },
    responses: answers.remove,
  },
  options,
);

const testPrivate = guarded(
  "agent.secret:write",
  {
    method: "post",
    path: `${own}/{id}/test`,
    operationId: "testPrivateConnection",
    tags,
    summary: "Test a private provider connection",
    description: texts.test,
    request: { params: privatePath },
    responses: answers.test,
  },
  options,
);

/** `/api/organizations/{orgSlug}/provider-connections`. */
export const sharedRoutes = router()
  .openapi(listShared, async (c) => c.json({ connections: await listConnections(c.var.ctx, null) }, 200))
  .openapi(createShared, async (c) =>
    c.json({ connection: await createConnection(c.var.ctx, null, c.req.valid("json")) }, 201),
  )
  .openapi(updateShared, async (c) => {
    const { id } = c.req.valid("param");
    return c.json({ connection: await updateConnection(c.var.ctx, null, id, c.req.valid("json")) }, 200);
  })
  .openapi(deleteShared, async (c) => {
    await deleteConnection(c.var.ctx, null, c.req.valid("param").id);
    return c.json({ deleted: true as const }, 200);
  })
  .openapi(testShared, async (c) => c.json(await testConnection(c.var.ctx, null, c.req.valid("param").id), 200));

/** `/api/instances/{slug}/provider-connections`. */
export const privateRoutes = router()
  .openapi(listPrivate, async (c) => {
    return c.json({ connections: await listConnections(c.var.ctx, c.req.valid("param").slug) }, 200);
  })
  .openapi(createPrivate, async (c) => {
    const { slug } = c.req.valid("param");
    return c.json({ connection: await createConnection(c.var.ctx, slug, c.req.valid("json")) }, 201);
  })
  .openapi(updatePrivate, async (c) => {
    const { slug, id } = c.req.valid("param");
    return c.json({ connection: await updateConnection(c.var.ctx, slug, id, c.req.valid("json")) }, 200);
  })
  .openapi(deletePrivate, async (c) => {
    const { slug, id } = c.req.valid("param");
    await deleteConnection(c.var.ctx, slug, id);
    return c.json({ deleted: true as const }, 200);
  })
  .openapi(testPrivate, async (c) => {
    const { slug, id } = c.req.valid("param");
    return c.json(await testConnection(c.var.ctx, slug, id), 200);
  });
