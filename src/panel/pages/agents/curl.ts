import { serverUrl } from "../../data/api.ts";

interface TextMessage {
  role: "user" | "assistant";
  content: string;
}

/** A request to an agent's chat completions, as a shell command. Its last message is the question. */
export function curlOf(slug: string, key: string, messages: readonly TextMessage[]): string {
  return `curl ${serverUrl}/v1/chat/completions \\
  -H ${inShell(`Authorization: Bearer ${key}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${inShell(JSON.stringify({ model: slug, messages }))}`;
}

const inShell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
