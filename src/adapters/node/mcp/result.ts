import type { CallToolResult } from "@ai-sdk/mcp";
import { type JsonValue, textOf } from "../../../core/json.ts";
import { isDeeperThan } from "../../../core/text/text.ts";

/** The longest result of one call, in characters, that a model gets. */
const mostCharacters = 1024 * 1024;
const deepest = 64;

/**
 * The result in the form for models: the structured content, or else the texts, with a note for each part that is no
 * text. If the tool failed, throws an `Error` with the server's own text; another one if the result is too large.
 */
export function readResult(result: CallToolResult): JsonValue {
  if ("toolResult" in result) return bounded(result.toolResult);
  const { content, structuredContent, isError } = result;
  const text = content.map(describePart).join("\n");
  if (isError) throw new Error(text === "" ? "The tool failed without saying why" : (bounded(text) as string));
  return bounded(structuredContent === undefined ? text : structuredContent);
}

function bounded(value: unknown): JsonValue {
  if (isDeeperThan(value, deepest)) throw new Error("The tool's result is nested too deeply");
  const text = JSON.stringify(value ?? null);
  if (text.length > mostCharacters) throw new Error("The tool's result is larger than 1 MiB: ask for less of it");
  return (value ?? null) as JsonValue;
}

type Part = Readonly<Record<string, unknown>>;

function describePart(part: Part): string {
  switch (part.type) {
    case "text":
      return textOf(part.text);
    case "resource":
      return describeResource(part.resource as Part);
    case "resource_link":
      return `[link to ${textOf(part.name)}: ${textOf(part.uri)}]`;
    default:
      return describeBinary(textOf(part.type), part.mimeType, part.data);
  }
}

function describeResource(resource: Part): string {
  if (typeof resource.text === "string") return resource.text;
  return describeBinary(textOf(resource.uri), resource.mimeType, resource.blob);
}

function describeBinary(name: string, mimeType: unknown, base64: unknown): string {
  const bytes = typeof base64 === "string" ? `, ${byteLength(base64)} bytes` : "";
  return `[${name}${typeof mimeType === "string" ? `, ${mimeType}` : ""}${bytes}]`;
}

/** Padding has at most two signs. Without that limit the pattern would take quadratic time. */
const byteLength = (base64: string) => Math.floor((base64.replace(/={1,2}$/, "").length * 3) / 4);
