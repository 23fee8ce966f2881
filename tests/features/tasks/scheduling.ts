import { newId } from "../../../src/core/ids.ts";
import { agents } from "../../../src/db/schema.ts";
import { taskTools } from "../../../src/features/tasks/tool.ts";
import type { ToolContext } from "../../../src/turn/types.ts";
import { toolContext } from "../../turn/input.ts";
import { withTasks } from "./tasks.ts";

export const telegram = { channel: "telegram", channelId: "42", subject: "telegram:42", userName: "Ada" } as const;

/** The tool of an agent in Rome, called as a person's turn on Telegram calls it. */
export async function withTool(script: Parameters<typeof withTasks>[0] = []) {
  const h = await withTasks(script);
  const [agent] = await h.db.update(agents).set({ timezone: "Europe/Rome" }).returning();
  if (!agent) throw new Error("There is no agent");
  const sourceOf = taskTools({ services: h.services, wake: () => {} });
  const [tool] = await sourceOf({ ...agent, named: ["scheduleTask"] });
  if (!tool) throw new Error("There is no tool");
  const contextOf = (more: Partial<ToolContext> = {}) =>
    toolContext({ origin: { ...toolContext().origin, ...telegram }, conversation: { id: newId(), ref: "x" }, ...more });
  const call = async (args: object, context = contextOf()) =>
    tool.execute(tool.validate({ name: "Remind", prompt: "Remind Ada of the milk.", ...args }), context);
  return { ...h, agent, sourceOf, contextOf, call };
}
