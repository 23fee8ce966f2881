/** What agents can do beside talking: the tools, who contributes them, and which an agent has. */

/** Which names of these an organization can't use. */
export { unusableTools } from "./usable.ts";
