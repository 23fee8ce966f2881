import type { Services } from "../../../../context/ctx.ts";

/** The parts of the engine that the Room's tools use. */
export interface ToolDependencies {
  services: Pick<Services, "database" | "clock">;
  /** Tells the worker that a job is due. */
  wake(): void;
}

/** The agent that owns the Room. */
export interface RoomAgent {
  id: string;
  organizationId: string;
}
