import type { AgentTool } from "../../../../client/index.ts";

type Tool = Pick<AgentTool, "name" | "description" | "origin">;

/** A tool's title and description for people. */
interface ToolWords {
  title: string;
  about: string;
}

/** Texts for the engine's own tools, whose descriptions are written for models. */
const own: Readonly<Record<string, ToolWords>> = {
  readSkill: { title: "Read skills", about: "Reads the instructions of a skill once a conversation is about it." },
  runSkillScript: {
    title: "Run scripts of skills",
    about: "Runs what comes with a skill. Scripts compute: they reach neither files nor the network.",
  },
  currentTime: { title: "Tell the time", about: "Knows the date and the time, in any time zone." },
  httpRequest: { title: "Call web addresses", about: "Sends requests to public web addresses and reads the answers." },
  saveMemory: { title: "Remember facts", about: "Keeps facts about a person for later conversations with them." },
  searchMemory: { title: "Search memories", about: "Looks up facts that it keeps about the person it talks with." },
  getState: { title: "Read notes", about: "Reads the values that were noted in a conversation." },
  setState: { title: "Write notes", about: "Notes values in a conversation, for its later messages." },
  scheduleTask: { title: "Plan tasks", about: "Does something later, once or again and again, in a task of its own." },
};

/** A tool's title and description for people; only the first sentence of a long description. */
export function toolWords({ name, description, origin }: Tool): ToolWords {
  const known = origin === "builtin" ? own[name] : undefined;
  if (known) return known;
  const last = name.slice(name.indexOf(":") + 1);
  return { title: origin === "agent" ? `Ask ${last}` : spaced(last), about: firstSentence(description) };
}

/** Turns `listPullRequests` and `list_pull-requests` into `List pull requests`. */
function spaced(name: string): string {
  const words = name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, " ").replace(/[_-]+/g, " ");
  const lower = words.replace(/\b[A-Z](?=[a-z])/g, (letter) => letter.toLowerCase());
  return lower.charAt(0).toUpperCase() + lower.slice(1);
}

const firstSentence = (text: string) => /^.+?[.!?](?=\s+[`\p{Lu}])/su.exec(text)?.[0] ?? text;
