import type {
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider";
import { isObject } from "../../core/json.ts";
import type { ModelCall, StreamingModel } from "../../core/ports.ts";

type Part = LanguageModelV4StreamPart;

/** After this many parts the process does other work. */
const burst = 16;

/**
 * The built-in model (decisions §4, "Providers"): offline, deterministic, and no language model, as each of its replies
 * says. It repeats the last user message; `call <tool> {json}` calls a tool and then reports its result; `think …`
 * reasons first; a yes-or-no question of the matcher is answered by looking for the quoted words. Its tokens are words.
 */
export function demoModel(): StreamingModel {
  return {
    async doStream(call) {
      call.abortSignal?.throwIfAborted();
      return { stream: streamed(answer(call), call.abortSignal) };
    },
  };
}

interface Answer {
  reasoning: string;
  text: string;
  call: { id: string; name: string; input: string } | null;
  /** The number of words in the prompt. */
  read: number;
}

/** The answer, which depends only on the end of the prompt. */
function answer({ prompt, toolChoice }: ModelCall): Answer {
  const nothing: Answer = { reasoning: "", text: "", call: null, read: countPrompt(prompt) };
  const results = lastResults(prompt);
  if (results.length > 0) return { ...nothing, text: say(results.join("\n")) };

  const message = lastUserText(prompt);
  const judged = verdict(message);
  if (judged !== null) return { ...nothing, text: judged };

  const thought = /^think(?:\s+|$)/i.exec(message)?.[0];
  const rest = message.slice(thought?.length ?? 0);
  const reasoning =
    thought === undefined ? "" : `The demo model does not think. It was asked to reason about: ${rest || "nothing"}`;
  const command = /^call\s+(\S+)\s*/i.exec(rest);
  const name = command?.[1];
  if (!command || name === undefined) return { ...nothing, reasoning, text: echo(rest) };

  const input = rest.slice(command[0].length).trim() || "{}";
  if (!isJsonObject(input)) {
    return {
      ...nothing,
      reasoning,
      text: say(`The arguments are not a JSON object. Write: call ${name} {"key": "value"}`),
    };
  }
  if (toolChoice?.type === "none")
    return { ...nothing, reasoning, text: say("No more tools may be called in this turn.") };
  return { ...nothing, reasoning, call: { id: `call_${prompt.length}`, name, input } };
}

/** Every reply says that no language model wrote it. */
const me = "I am the demo model, not a language model";
const say = (text: string) => `${me}. ${text}`;
const echo = (message: string) => `${me}: I only repeat. You said: ${message || "nothing"}`;

/** The end of a question of the Room's matcher. Before it are the condition, and the data between its marks. */
const yesOrNo = "yes or no";
const aboutData = /^(.*?)<<([^\s<>]+)\n([^\n]*)\n\2>>/s;

/** The most quoted texts that are searched for, since a stranger's message may contain many. */
const mostTexts = 100;

/** Answers "yes" when the data contains each quoted text from before it, in any case. Null for another message. */
function verdict(message: string): string | null {
  const [asked, question = "", , data = ""] = (message.endsWith(yesOrNo) && aboutData.exec(message)) || [];
  if (asked === undefined) return null;
  const found = data.toLowerCase();
  const texts = [...question.matchAll(/"([^"\n]+)"/g)].slice(0, mostTexts).map(([, text = ""]) => text);
  const missing = texts.find((text) => !found.includes(JSON.stringify(text).slice(1, -1).toLowerCase()));
  if (missing === undefined) return `Yes. ${me}: the data holds every text in double quotes`;
  return `No. ${me}: the data lacks "${missing}"`;
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function lastUserText(prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast(({ role }) => role === "user");
  return message?.role === "user" ? textOf(message.content).trim() : "";
}

function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
}

/** The results of the last tool calls, as sentences; none when the prompt does not end with results. */
function lastResults(prompt: LanguageModelV4Prompt): string[] {
  const last = prompt.at(-1);
  if (last?.role !== "tool") return [];
  return last.content.flatMap((part) =>
    part.type === "tool-result" ? [`The tool ${part.toolName} ${describeOutput(part.output)}`] : [],
  );
}

function describeOutput(output: LanguageModelV4ToolResultOutput): string {
  switch (output.type) {
    case "text":
      return `answered: ${output.value}`;
    case "error-text":
      return `failed: ${output.value}`;
    case "error-json":
      return `failed: ${JSON.stringify(output.value)}`;
    case "execution-denied":
      return `was refused${output.reason ? `: ${output.reason}` : ""}`;
    default:
      return `answered: ${JSON.stringify(output.value)}`;
  }
}

function countPrompt(prompt: LanguageModelV4Prompt): number {
  return prompt.reduce(
    (sum, { content }) => sum + countWords(typeof content === "string" ? content : textOf(content)),
    0,
  );
}

/** The words, each with the space before it, so that joining them gives the text again. */
const words = (text: string): string[] => text.match(/\s*\S+|\s+$/g) ?? [];
const countWords = (text: string): number => text.match(/\S+/g)?.length ?? 0;

function* parts({ reasoning, text, call, read }: Answer): Generator<Part> {
  yield { type: "stream-start", warnings: [] };
  if (reasoning !== "") {
    yield { type: "reasoning-start", id: "reasoning" };
    for (const delta of words(reasoning)) yield { type: "reasoning-delta", id: "reasoning", delta };
    yield { type: "reasoning-end", id: "reasoning" };
  }
  if (text !== "") {
    yield { type: "text-start", id: "text" };
    for (const delta of words(text)) yield { type: "text-delta", id: "text", delta };
    yield { type: "text-end", id: "text" };
  }
  if (call) {
    yield { type: "tool-input-start", id: call.id, toolName: call.name };
    for (const delta of words(call.input)) yield { type: "tool-input-delta", id: call.id, delta };
    yield { type: "tool-input-end", id: call.id };
    yield { type: "tool-call", toolCallId: call.id, toolName: call.name, input: call.input };
  }
  const reason = call ? "tool-calls" : "stop";
  const thought = countWords(reasoning);
  const said = countWords(text) + (call ? countWords(call.input) : 0);
  yield {
    type: "finish",
    finishReason: { unified: reason, raw: reason },
    usage: {
      inputTokens: { total: read, noCache: read, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: thought + said, text: said, reasoning: thought },
    },
  };
}

/** A stream that makes its parts only when they are read. */
function streamed(answer: Answer, signal: AbortSignal | undefined): ReadableStream<Part> {
  const source = parts(answer);
  let sent = 0;
  return new ReadableStream<Part>(
    {
      async pull(controller) {
        sent += 1;
        if (sent % burst === 0) await new Promise<void>((resolve) => setTimeout(resolve, 0));
        signal?.throwIfAborted();
        const { done, value } = source.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}
