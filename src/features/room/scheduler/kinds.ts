import { converseKind } from "../converse/work.ts";

/** The kind of the job that takes a turn of a Room; its key is the agent's id. */
export const evaluateKind = "room.evaluate";

/** The kinds of the jobs that take turns which nobody asked for in person. */
export const ownWorkKinds = [evaluateKind, converseKind, "task.run"] as const;
