import type { ChatEvent } from "./send.ts";

export interface Screen {
  write(text: string): unknown;
  isTTY?: boolean;
}

interface Outputs {
  /** Receives the reply's text; a pipe or file receives nothing else. */
  output: Screen;
  /** Receives reasoning, tool calls and notices. */
  notes: Screen;
  colours: boolean;
}

export interface Show {
  event(event: ChatEvent): void;
  /** Shows a notice about the reply. */
  note(line: string): void;
  /** Ends the reply's last line. */
  end(): void;
}

/** How many characters of a tool's arguments or result are shown. */
const longestExcerpt = 400;

/** Shows a turn as it happens: the text plain, reasoning and tool calls dimmed. */
export function showReply({ output, notes, colours }: Outputs): Show {
  const tools = new Map<unknown, string>();
  const endsLine = { text: true, reasoning: true };
  let open: "text" | "reasoning" | null = null;
  const dim = (text: string) => (colours ? `\u001b[2m${text}\u001b[22m` : text);

  const endText = () => {
    if (!endsLine.text) output.write("\n");
    endsLine.text = true;
  };
  const close = () => {
    if (open === "reasoning" && !endsLine.reasoning) notes.write("\n");
    // A pipe gets the text unchanged, without line breaks before notices.
    if (open === "text" && output.isTTY) endText();
    open = null;
  };
  const note = (line: string) => {
    close();
    notes.write(`${dim(printable(line))}\n`);
  };
  const stream = (kind: "text" | "reasoning", text: string) => {
    if (text === "") return;
    if (open !== kind) close();
    open = kind;
    endsLine[kind] = text.endsWith("\n");
    if (kind === "reasoning") notes.write(dim(printable(text)));
    else output.write(output.isTTY ? printable(text) : text);
  };

  const event = ({ event: type, data }: ChatEvent) => {
    switch (type) {
      case "reasoning-delta":
        return stream("reasoning", String(data.text));
      case "text-delta":
        return stream("text", String(data.text));
      case "tool-call":
        tools.set(data.id, String(data.name));
        return note(`→ ${data.name} ${excerpt(data.args)}`);
      case "tool-result":
        return note(`← ${tools.get(data.id) ?? "tool"} ${excerpt(data.result)}`);
      case "hook-execution":
        return note(`· ${data.toolName} on ${data.event}${data.success ? "" : " failed"}`);
      case "step-finish":
        return data.finishReason === "approval" ? note("· The tool call waits for an approval") : undefined;
    }
  };
  const end = () => {
    close();
    endText();
  };
  return { event, note, end };
}

/** Shows the events as they arrive, one JSON object a line. */
export function showJson(output: Screen, notes: Screen): Show {
  return {
    event: (event) => void output.write(`${JSON.stringify(event)}\n`),
    note: (line) => void notes.write(`${line}\n`),
    end: () => {},
  };
}

function excerpt(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > longestExcerpt ? `${line.slice(0, longestExcerpt).toWellFormed()}…` : line;
}

/** Removes control characters, except line breaks and tabs: a model's text must not control the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, "");
}
