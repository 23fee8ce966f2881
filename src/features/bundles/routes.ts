import { errorAnswers, guarded, json, router } from "../../http/route.ts";
import { slugParam } from "../agents/index.ts";
import { exportBundle } from "./export.ts";
import { Bundle } from "./schema.ts";

const tags = ["Agents"];
const path = "/api/instances/{slug}";

const exported = guarded("agent.export:read", {
  method: "get",
  path: `${path}/export`,
  operationId: "exportAgent",
  tags,
  summary: "An agent as a file",
  description:
    "With its prompts, tools, skills, channels, hooks, Room, event sources and scheduled tasks, in format 1.3. It holds no secret: of secrets and credentials it only says which are configured. What is written into texts, such as prompts and arguments of hooks, is there as it is. Nor does it hold conversations, memories, and tasks that the agent made by its tool. An unchanged agent gives the same text again, but for `exportedAt`.",
  request: { params: slugParam },
  responses: { 200: json(Bundle, "The bundle."), ...errorAnswers(404) },
});

/** `/api/instances/{slug}/export` and the imports. */
export const bundleRoutes = router().openapi(exported, async (c) =>
  c.json(await exportBundle(c.var.ctx, c.req.valid("param").slug), 200),
);
