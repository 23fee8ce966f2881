import agent from "../../../schema/agent.schema.json" with { type: "json" };
import skill from "../../../schema/skill.schema.json" with { type: "json" };

/** The schemas with which editors check files, by the files' type. They are published with the package. */
export const publishedSchemas: Readonly<Record<string, object>> = { agent, skill };
