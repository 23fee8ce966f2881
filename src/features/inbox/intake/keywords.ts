import { normalized } from "../../../core/text/normalized.ts";

/** What becomes of a message before any model is asked. */
export type Heeded = "answer" | "drop" | "stop" | "resume";

export interface Keywords {
  /** Whether people can stop the agent. Who did so earlier can resume it all the same. */
  enabled: boolean;
  stop: readonly string[];
  resume: readonly string[];
}

/** Whether a message stops or resumes the agent for its sender, and whether it is heard at all. */
export function heed(text: string, isStopped: boolean, { enabled, stop, resume }: Keywords): Heeded {
  if (isStopped) return isOneOf(text, resume) ? "resume" : "drop";
  return enabled && isOneOf(text, stop) ? "stop" : "answer";
}

/** A keyword is the whole text. */
const isOneOf = (text: string, keywords: readonly string[]) => {
  const said = folded(text);
  return said !== "" && keywords.some((keyword) => folded(keyword) === said);
};

const folded = (text: string) => normalized(text, "NFC").trim().toLowerCase();
