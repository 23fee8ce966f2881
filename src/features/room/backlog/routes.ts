import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { slugParam } from "../../agents/index.ts";
import { changeEntry } from "./change.ts";
import { listBacklog } from "./read.ts";
import { BacklogEntryAnswer, BacklogEntryChange, BacklogPage, BacklogQuery, entryPath } from "./schema.ts";

const tags = ["Room"];
const path = "/api/instances/{slug}/room/backlog";

const list = guarded("agent.room:read", {
  method: "get",
  path,
  operationId: "listBacklog",
  tags,
  summary: "The events that an agent handles in its Room",
  description:
    "The newest first, with what became of each. At most 100 wait at a time: what comes then is only in the ledger, as `backlog-full`. Entries that are over are kept for 30 days.",
  request: { params: slugParam, query: BacklogQuery },
  responses: { 200: json(BacklogPage, "A page of them."), ...errorAnswers(404) },
});

const change = guarded("agent.room:write", {
  method: "patch",
  path: `${path}/{id}`,
  operationId: "changeBacklogEntry",
  tags,
  summary: "Discard an entry, or have it handled again",
  description:
    "An entry that is `pending` or `failed` can be discarded. One that is `failed` or `discarded` can be handled again, with 3 new attempts. 409 for others, and where 100 wait already.",
  request: { params: entryPath, body: jsonBody(BacklogEntryChange) },
  responses: { 200: json(BacklogEntryAnswer, "The entry as it is now."), ...errorAnswers(404, 409) },
});

/** `/api/instances/{slug}/room/backlog`. */
export const backlogRoutes = router()
  .openapi(list, async (c) => {
    return c.json(await listBacklog(c.var.ctx, c.req.valid("param").slug, c.req.valid("query")), 200);
  })
  .openapi(change, async (c) => {
    const { slug, id } = c.req.valid("param");
    return c.json({ event: await changeEntry(c.var.ctx, slug, id, c.req.valid("json")) }, 200);
  });
