import { serverUrl } from "../../data/api.ts";

interface Said {
  role: "user" | "assistant";
  content: string;
}

/** A request to an agent's chat completions, as a shell command. Its last message is the question. */
export function curlOf(slug: string, key: string, messages: readonly Said[]): string {
  return `curl ${serverUrl}/v1/chat/completions \\
  -H ${inShell(`Authorization: Bearer ${key}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${inShell(JSON.stringify({ model: slug, messages }))}`;
}

const inShell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
