import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import type { Turns } from "../turns/index.ts";
import { createAsk } from "./ask.ts";
import { askTools } from "./tools.ts";

/** Calls an agent for another one, also outside turns. */
export { createAsk } from "./ask.ts";
export type { Ask } from "./tools.ts";

/** The tools `agent:<slug>`, by which agents call each other. */
export function handoffFeature(services: Services, turns: Turns): Contribution {
  const ask = createAsk(services, turns);
  return { tools: (owner) => askTools(services, owner, ask) };
}
