/** A line at the prompt, once parsed. */
export type Asked =
  | { kind: "message"; text: string }
  | { kind: "new" | "exit" }
  /** A text to show before the next prompt. */
  | { kind: "note"; text: string };

const help = `/new   begins another chat
/exit  leaves, as Ctrl+D does
/help  shows this
A message that begins with a slash has two: //etc is sent as /etc.`;

/** Parses the typed text. Only a single line can be a command: pasted lines are always a message. */
export function readLine(text: string): Asked {
  if (!text.startsWith("/") || text.includes("\n")) return { kind: "message", text };
  if (text.startsWith("//")) return { kind: "message", text: text.slice(1) };
  const [name = ""] = text.trim().split(/\s/);
  if (name === "/new") return { kind: "new" };
  if (name === "/exit") return { kind: "exit" };
  if (name === "/help") return { kind: "note", text: help };
  return { kind: "note", text: `There is no ${name}; there are /help, /new and /exit. To send it, type /${name}` };
}
