import agent from "../../../schema/agent.schema.json" with { type: "json" };
import skill from "../../../schema/skill.schema.json" with { type: "json" };

/** The schemas by which editors check files, by what a file holds. They are published with the package. */
export const publishedSchemas: Readonly<Record<string, object>> = { agent, skill };
