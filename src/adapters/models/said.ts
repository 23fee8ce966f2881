import { isObject, parseJson } from "../../core/json.ts";

/** The longest words of a refusal that are looked at, in characters, once nothing is repeated in them. */
const longestSaid = 2_000;

/** How many braces of a text are looked at, and how deep a body may be to be read as JSON. */
const [mostBraces, deepest] = [500, 100];

/**
 * What a provider says in an error, without what it merely repeats: the request, or the names of all that it would take.
 * The settings in there were not refused, and a conversation may say anything. `message` is mostly a part of `body`.
 */
export function saidIn(message: string, body = ""): string {
  return `${withoutRepeated(message)} ${spoken(body)}`.slice(0, longestSaid);
}

function spoken(body: string): string {
  try {
    return JSON.stringify(withoutRequests(parseJson(body, deepest)));
  } catch {
    return withoutRepeated(body);
  }
}

/** The members in which validators, as those of FastAPI, repeat what they were sent. */
const repeated: ReadonlySet<string> = new Set(["input", "request", "request_body", "requestBody"]);

function withoutRequests(value: unknown): unknown {
  if (typeof value === "string") return withoutRepeated(value);
  if (Array.isArray(value)) return value.map(withoutRequests);
  if (!isObject(value)) return value;
  if (Array.isArray(value.messages) || Array.isArray(value.contents)) return {};
  // Others tell by such a name what is wrong with the member.
  const isRepeated = (name: string, inner: unknown) => repeated.has(name) && ("loc" in value || isObject(inner));
  const others = Object.entries(value).filter(([name, inner]) => !isRepeated(name, inner));
  return Object.fromEntries(others.map(([name, inner]) => [name, withoutRequests(inner)]));
}

/** How Rust's servers name the fields that they know, after one that they do not. */
const known = /expected (?:one of )?[`'"]\w+[`'"](?:,? (?:or )?[`'"]\w+[`'"])*/g;

/** The same in prose, where values stand as JSON or as Python writes them, and may be cut off. */
const input = /(?:\\{0,15}["'](?:input|request|request_body|requestBody)\\{0,15}["']\s*:\s*|\binput_value=)(?=[{[])/y;

function withoutRepeated(text: string): string {
  const said = text.replaceAll(known, "");
  let kept = "";
  let from = 0;
  let braces = 0;
  for (const { index } of said.matchAll(/[{"'\\i]/g)) {
    if (index < from || braces >= mostBraces) continue;
    const isBrace = said[index] === "{";
    input.lastIndex = index;
    if (!isBrace && !input.test(said)) continue;
    braces += 1;
    const { end, isRequest } = valueAt(said, isBrace ? index : input.lastIndex);
    if (isBrace && !isRequest) continue;
    kept += said.slice(from, index);
    from = end;
  }
  return kept + said.slice(from);
}

/** Its name of the conversation makes an object a request. */
const conversation = /(\\{0,15}["'])(?:messages|contents)\1\s*:\s*\[/y;

/** Where an object or a list of a text ends, which is the text's end where it is cut off, and whether it is a request. */
function valueAt(text: string, start: number): { end: number; isRequest: boolean } {
  let isRequest = false;
  let depth = 0;
  /** The quote of the string at hand, and how many backslashes stand before those of the outermost strings. */
  let open = "";
  let base = -1;
  let slashes = 0;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (char === "\\") {
      slashes += 1;
      continue;
    }
    const isQuote = char === '"' || char === "'";
    if (isQuote && open === "") {
      if (base === -1) base = slashes;
      conversation.lastIndex = at - slashes;
      if (depth === 1 && conversation.test(text)) isRequest = true;
      open = char;
    } else if (char === open && isEnd(slashes, base)) {
      open = "";
    } else if (open === "") {
      if (char === "{" || char === "[") depth += 1;
      if (char === "}" || char === "]") depth -= 1;
      if (depth === 0) return { end: at + 1, isRequest };
    }
    slashes = 0;
  }
  return { end: text.length, isRequest };
}

/** Whether a quote after so many backslashes ends its string, and is none within it: each level of JSON doubles them. */
const isEnd = (slashes: number, base: number) => Math.floor((slashes - base) / (base + 1)) % 2 === 0;
