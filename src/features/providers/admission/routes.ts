import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { slugParam } from "../../agents/index.ts";
import { workspacePath } from "../../organizations/index.ts";
import { Admitted, AgentProviders, NewAdmission } from "./schema.ts";
import { getAdmission, listProviders, setAdmission } from "./service.ts";

const tags = ["Providers"];
const options = { feature: "providers" } as const;
const path = "/api/organizations/{orgSlug}/workspaces/{workspaceId}/providers";

const get = guarded(
  "org:read",
  {
    method: "get",
    path,
    operationId: "getWorkspaceProviders",
    tags,
    summary: "The providers that a workspace admits",
    description: "Everything, until it is limited.",
    request: { params: workspacePath },
    responses: { 200: json(Admitted, "The providers."), ...errorAnswers(404) },
  },
  options,
);

const put = guarded(
  "workspace.assignment:manage",
  {
    method: "put",
    path,
    operationId: "setWorkspaceProviders",
    tags,
    summary: "Limit a workspace to providers and models",
    description:
      "Replaces what was admitted, in force with the next turns of its agents. Holds for connections and for the environment's keys. An agent whose bound connection is no longer admitted answers 503: nothing takes its place.",
    request: { params: workspacePath, body: jsonBody(NewAdmission) },
    responses: { 200: json(Admitted, "The providers as they are now."), ...errorAnswers(404) },
  },
  options,
);

const list = guarded(
  "agent:read",
  {
    method: "get",
    path: "/api/instances/{slug}/providers",
    operationId: "listAgentProviders",
    tags,
    summary: "The providers that an agent may use",
    description: "Those that its workspace admits, with the shared and the agent's private connections.",
    request: { params: slugParam },
    responses: { 200: json(AgentProviders, "The providers."), ...errorAnswers(404) },
  },
  options,
);

/** `/api/organizations/{orgSlug}/workspaces/{workspaceId}/providers` and `/api/instances/{slug}/providers`. */
export const admissionRoutes = router()
  .openapi(get, async (c) => c.json(await getAdmission(c.var.ctx, c.req.valid("param").workspaceId), 200))
  .openapi(put, async (c) => {
    const { workspaceId } = c.req.valid("param");
    return c.json(await setAdmission(c.var.ctx, workspaceId, c.req.valid("json")), 200);
  })
  .openapi(list, async (c) => c.json(await listProviders(c.var.ctx, c.req.valid("param").slug), 200));
