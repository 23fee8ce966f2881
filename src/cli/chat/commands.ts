/** The command of a line at the prompt. */
export type Asked =
  | { kind: "message"; text: string }
  | { kind: "new" | "exit" }
  /** Something to show, after which the prompt comes again. */
  | { kind: "note"; text: string };

const help = `/new   begins another chat
/exit  leaves, as Ctrl+D does
/help  shows this
A message that begins with a slash has two: //etc is sent as /etc.`;

/** Reads what was typed. Only a single line is a command: pasted lines are a message, whatever they begin with. */
export function readLine(text: string): Asked {
  if (!text.startsWith("/") || text.includes("\n")) return { kind: "message", text };
  if (text.startsWith("//")) return { kind: "message", text: text.slice(1) };
  const [name = ""] = text.trim().split(/\s/);
  if (name === "/new") return { kind: "new" };
  if (name === "/exit") return { kind: "exit" };
  if (name === "/help") return { kind: "note", text: help };
  return { kind: "note", text: `There is no ${name}; there are /help, /new and /exit. To send it, type /${name}` };
}
