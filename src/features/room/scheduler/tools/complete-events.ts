import { z } from "@hono/zod-openapi";
import { and, inArray } from "drizzle-orm";
import { isUuid } from "../../../../core/ids.ts";
import { storable } from "../../../../core/text/text.ts";
import { eventBacklog } from "../../../../db/schema.ts";
import type { Tool } from "../../../../turn/types.ts";
import { builtin } from "../../../tools/index.ts";
import { changeEntries } from "../../backlog/status.ts";
import type { RoomAgent, ToolDependencies } from "./dependencies.ts";

const tool = builtin({
  name: "markEventsCompleted",
  description:
    "Marks events of the backlog as completed. Do this for each event that you handled, also where nothing was to be done; an event that you don't mark is given to you again.",
  category: "Room",
  input: z.object({
    eventIds: z.array(z.string()).min(1).max(100).describe("The ids of the events, as you were given them."),
    notes: z.string().max(10_000).optional().describe("What you did, for the people who look after you."),
  }),
  effect: "none",
  seesSecrets: false,
});

/** Completes pending or processing entries of the agent's own backlog. Reports all other ids to the model. */
export function markEventsCompleted({ services }: ToolDependencies, { id: agentId }: RoomAgent): Tool {
  const { database, clock } = services;
  return tool.implement(async ({ eventIds, notes }, { turnId }) => {
    const asked = [...new Set(eventIds.map((id) => id.trim().toLowerCase()))];
    const { id, status } = eventBacklog;
    const isOpen = and(inArray(id, asked.filter(isUuid)), inArray(status, ["pending", "processing"]));
    const change = {
      status: "completed",
      claim: turnId,
      reactNotes: notes === undefined ? null : storable(notes),
      error: null,
    } as const;
    const completed = await database.transaction((tx) =>
      changeEntries(tx, { agentId, now: clock.now() }, isOpen, change),
    );
    const done = new Set(completed.map((entry) => entry.id));
    const unknown = asked.filter((id) => !done.has(id));
    return { completed: [...done], ...(unknown.length > 0 ? { notWaiting: unknown } : {}) };
  });
}
