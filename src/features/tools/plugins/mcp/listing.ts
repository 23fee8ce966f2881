import { isObject } from "../../../../core/json.ts";
import type { McpTool } from "../../../../core/ports.ts";
import { scrubJson } from "../../../../core/scrub/json.ts";
import { type Scrub, scrubber } from "../../../../core/scrub/scrub.ts";
import { clip, isDeeperThan, isStorable, storable, storableJson } from "../../../../core/text/text.ts";
import type { ListedTool } from "./listed.ts";

export const mostTools = 256;
const mostCharacters = 256 * 1024;
const longestName = 128;
const longestDescription = 4_096;
const deepest = 32;

/** A server's tools, to be stored; `note` tells the caller which ones were left out. */
export interface Listing {
  tools: ListedTool[];
  note: string | null;
}

/**
 * A server's tools within limits, whatever it listed: usable and unique names; schemas that every model provider
 * accepts; at most 256 tools and 256 KiB; nothing that `scrub` removes.
 */
export function boundListing(listed: readonly McpTool[], scrub: Scrub = scrubber([])): Listing {
  const usable = new Map<string, ListedTool>();
  let odd = 0;
  for (const tool of listed) {
    // The server does not know a tool by a scrubbed name.
    const fits = isUsableName(tool.name) && !usable.has(tool.name) && scrub(tool.name) === tool.name;
    if (fits) usable.set(tool.name, boundTool(tool, scrub));
    else odd += 1;
  }
  const tools: ListedTool[] = [];
  let characters = 0;
  for (const tool of usable.values()) {
    characters += JSON.stringify(tool).length;
    if (tools.length === mostTools || characters > mostCharacters) break;
    tools.push(tool);
  }
  return { tools, note: noteOf(odd, usable.size > tools.length ? tools.length : null) };
}

function noteOf(odd: number, first: number | null): string | null {
  const notes = [
    ...(first === null
      ? []
      : [`It has more tools than the ${mostTools} or 256 KiB that fit: the first ${first} are used`]),
    ...(odd === 0
      ? []
      : [
          `${odd} of its tools are left out: their names are empty, too long, taken by another, or hold a secret of the plugin`,
        ]),
  ];
  return notes.length === 0 ? null : notes.join(". ");
}

const isUsableName = (name: string) => name.trim() !== "" && name.length <= longestName && isStorable(name);

/** The description is scrubbed before it is cut, since half a secret is not recognized. */
function boundTool({ name, description, inputSchema }: McpTool, scrub: Scrub): ListedTool {
  return {
    name,
    description: storable(clip(scrub(description), longestDescription)),
    inputSchema: boundSchema(inputSchema, scrub),
  };
}

const longestSchema = 64 * 1024;

/**
 * Replaces a schema that is not an object's by one for any object: providers refuse a whole request for one such tool.
 */
function boundSchema(schema: McpTool["inputSchema"], scrub: Scrub): ListedTool["inputSchema"] {
  const open = { type: "object", properties: {} };
  if (isDeeperThan(schema, deepest)) return open;
  const clean = scrubJson(schema, scrub);
  if (typeof clean === "string") return open;
  const { $schema: _, type = "object", properties = {}, ...rest } = JSON.parse(storableJson(clean));
  const sound = type === "object" && isObject(properties);
  const bounded = { ...rest, type, properties };
  return sound && JSON.stringify(bounded).length <= longestSchema ? bounded : open;
}
