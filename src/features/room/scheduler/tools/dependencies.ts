import type { Services } from "../../../../context/ctx.ts";

/** What the Room's tools need of the engine. */
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
