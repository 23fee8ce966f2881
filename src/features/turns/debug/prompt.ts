import type { JsonValue } from "../../../core/json.ts";
import type { ModelCall } from "../../../core/ports.ts";
import { scrubJson } from "../../../core/scrub/json.ts";
import type { Scrub } from "../../../core/scrub/scrub.ts";
import { clipJson, shorten } from "../../../core/text/clip-json.ts";
import type { PromptMessage, TurnDebug } from "../../conversations/index.ts";

/** The limits of a stored prompt, in characters. A text is scrubbed first, since a cut secret is not recognized. */
const longestSystem = 256 * 1024;
const longestPart = 16 * 1024;
const longestMessages = 128 * 1024;

type Message = ModelCall["prompt"][number];
type Part = PromptMessage["content"][number];

/** A prompt in stored form, with as many of its newest messages as fit. */
export function keptPrompt(prompt: readonly Message[], scrub: Scrub): NonNullable<TurnDebug["prompt"]> {
  const system = prompt.flatMap(({ role, content }) => (role === "system" ? [content] : []));
  const others = prompt.filter(({ role }) => role !== "system");
  const messages: PromptMessage[] = [];
  let room = longestMessages;
  for (const message of others.toReversed()) {
    const kept = keptMessage(message, scrub);
    room -= JSON.stringify(kept).length;
    if (room < 0 && messages.length > 0) break;
    messages.push(kept);
  }
  return {
    system: shorten(scrub(system.join("\n")), longestSystem),
    messages: messages.reverse(),
    omitted: others.length - messages.length,
  };
}

function keptMessage({ role, content }: Message, scrub: Scrub): PromptMessage {
  if (role === "system" || typeof content === "string") throw new TypeError("A system message is kept for itself");
  return { role, content: content.flatMap((part) => keptPart(part, scrub)) };
}

type ModelPart = Exclude<Message["content"], string>[number];

function keptPart(part: ModelPart, scrub: Scrub): Part[] {
  const value = (json: unknown) => clipJson(scrubJson(json as JsonValue, scrub), longestPart);
  switch (part.type) {
    case "text":
    case "reasoning":
      return [{ type: part.type, text: shorten(scrub(part.text), longestPart) }];
    case "file":
      return [{ type: "file", mediaType: part.mediaType }];
    case "tool-call":
      return [
        { type: "tool-call", toolCallId: part.toolCallId, toolName: scrub(part.toolName), args: value(part.input) },
      ];
    case "tool-result": {
      const { toolCallId, toolName, output } = part;
      const result = value("value" in output ? output.value : output);
      return [{ type: "tool-result", toolCallId, toolName: scrub(toolName), result }];
    }
    default:
      return [];
  }
}
