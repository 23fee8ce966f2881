import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { Deleted } from "../../http/shapes.ts";
import {
  DeletedMemories,
  MemoryDeletion,
  MemoryPage,
  MemoryQuery,
  memoryPath,
  NewMemory,
  SavedMemory,
} from "./schema.ts";
import { createMemory, deleteMemories, deleteMemory, listMemories } from "./service.ts";

const tags = ["Memories"];

const list = guarded("memory:read", {
  method: "get",
  path: "/memories",
  operationId: "listMemories",
  tags,
  summary: "What agents remember",
  description: "Of one agent, or of all within reach; what was learned or changed last comes first.",
  request: { query: MemoryQuery },
  responses: { 200: json(MemoryPage, "A page of the memories."), ...errorAnswers(404) },
});

const create = guarded("memory:write", {
  method: "post",
  path: "/memories",
  operationId: "createMemory",
  tags,
  summary: "Remember a fact",
  description:
    "One that says the same as a memory of the same subject, or nearly so, takes its place. An agent keeps 10,000 memories of a subject: beyond, the least important go, the oldest of them first.",
  request: { body: jsonBody(NewMemory) },
  responses: { 201: json(SavedMemory, "The memory."), ...errorAnswers(404) },
});

const removeAll = guarded("memory:write", {
  method: "delete",
  path: "/memories",
  operationId: "deleteMemories",
  tags,
  summary: "Forget everything",
  description:
    "All memories within reach: with `instanceId` that agent's only, with `subject` only those about one end user, of the channel `subjectChannel`. There is no way back.",
  request: { query: MemoryDeletion },
  responses: { 200: json(DeletedMemories, "They are gone."), ...errorAnswers(404) },
});

const remove = guarded("memory:write", {
  method: "delete",
  path: "/memories/{id}",
  operationId: "deleteMemory",
  tags,
  summary: "Forget one memory",
  description: "There is no way back.",
  request: { params: memoryPath },
  responses: { 200: json(Deleted, "It is gone."), ...errorAnswers(404) },
});

/** `/memories`, without `/api` in front (spec "Memories"). */
export const memoryRoutes = router()
  .openapi(list, async (c) => c.json(await listMemories(c.var.ctx, c.req.valid("query")), 200))
  .openapi(create, async (c) => c.json(await createMemory(c.var.ctx, c.req.valid("json")), 201))
  .openapi(removeAll, async (c) => {
    const count = await deleteMemories(c.var.ctx, c.req.valid("query"));
    return c.json({ deleted: true as const, count }, 200);
  })
  .openapi(remove, async (c) => {
    await deleteMemory(c.var.ctx, c.req.valid("param").id);
    return c.json({ deleted: true as const }, 200);
  });
