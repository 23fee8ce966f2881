import type { Services } from "../../../../context/ctx.ts";

/** The parts of the engine that the Room's tools use. */
export interface ToolDependencies {
  services: Pick<Services, "database" | "clock">;
  /** Says that a job is due. */
  wake(): void;
}

/** Whose Room it is. */
export interface RoomAgent {
  id: string;
  organizationId: string;
}
