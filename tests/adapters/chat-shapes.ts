export const event = (data: unknown) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
export const chunk = (delta: unknown, finish: string | null = null, more: object = {}) =>
  event({
    id: "c1",
    created: 1_763_712_000,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  });
const tool = (...pieces: object[]) => chunk({ tool_calls: pieces });
export const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
export const stop = chunk({}, "stop", { usage }) + event("[DONE]");
const stopForTools = chunk({}, "tool_calls", { usage }) + event("[DONE]");

/** Replies of servers, in addition to the recorded ones. */
export const shapes: Record<string, string> = {
  "a call in pieces":
    tool({ index: 0, id: "call_1", type: "function", function: { name: "clock", arguments: "" } }) +
    tool({ index: 0, function: { arguments: '{"zo' } }) +
    tool({ index: 0, function: { arguments: 'ne":"UTC"}' } }) +
    stopForTools,
  "two calls at once":
    tool(
      { index: 0, id: "call_1", function: { name: "clock", arguments: '{"a":' } },
      { index: 1, id: "call_2", function: { name: "weather", arguments: "{" } },
    ) +
    tool({ index: 1, function: { arguments: '"b":2}' } }, { index: 0, function: { arguments: "1}" } }) +
    stopForTools,
  "calls without an index":
    tool({ id: "call_1", function: { name: "clock", arguments: "{}" } }) +
    tool({ id: "call_2", function: { name: "clock", arguments: '{"a":1}' } }) +
    stopForTools,
  "calls without ids":
    tool({ index: 0, function: { name: "clock", arguments: "{}" } }) +
    tool({ index: 1, id: "", function: { name: "weather", arguments: "{}" } }) +
    stopForTools,
  "a call without index, id and arguments": tool({ function: { name: "clock" } }) + stopForTools,
  "calls that share an index and an id":
    tool({ index: 0, id: "x", function: { name: "clock", arguments: "{}" } }) +
    tool({ index: 0, id: "x", function: { name: "weather", arguments: "{}" } }) +
    stopForTools,
  "a call that repeats its name and id":
    tool({ index: 0, id: "call_1", function: { name: "clock", arguments: '{"a"' } }) +
    tool({ index: 0, id: "call_1", function: { name: "clock", arguments: ":1}" } }) +
    tool({ index: 0, id: "", function: { name: "", arguments: "" } }) +
    stopForTools,
  "text, then a call":
    chunk({ content: "Let me " }) +
    chunk({ content: "look." }) +
    tool({ index: 0, id: "call_1", function: { name: "clock", arguments: "{}" } }) +
    stopForTools,
  "a reason with the last words": chunk({ role: "assistant", content: "Hi" }, "length", { usage }),
  "a last chunk with usage only": chunk({ content: "Hi" }, "stop") + event({ choices: [], usage }) + event("[DONE]"),
  "usage in each chunk": chunk({ content: "H" }, null, { usage }) + chunk({ content: "i" }, "stop", { usage }),
  "no usage": chunk({ content: "Hi" }) + chunk({}, "stop"),
  "counts that are null": chunk({ content: "Hi" }, "stop", { usage: null }),
  "another reason": chunk({ content: "Hi" }, "eos"),
  "a filter": chunk({ content: "Hi" }) + chunk({}, "content_filter"),
  "no [DONE]": chunk({ content: "Hi" }) + chunk({}, "stop", { usage }),
  "an end within an event": `${chunk({ content: "Hi" })}${chunk({}, "stop")}data: {"choices":[`,
  nothing: "",
  "null and empty contents":
    chunk({ role: "assistant", content: null }) + chunk({ content: "" }) + chunk({ content: "Hi" }) + stop,
  "comments and other fields": `: ping\n\nid: 1\nevent: chunk\nretry: 10\nodd\n${chunk({ content: "Hi" })}:\n\n${stop}`,
  "data without a space": `${chunk({ content: "Hi" })}${stop}`.replaceAll("data: ", "data:"),
  "data in several lines": `data: {"id":"c1","choices":\ndata: [{"index":0,"delta":{"content":"Hi"}}]}\n\n${stop}`,
  CRLF: `${chunk({ content: "Hi" })}: ping\n\n${stop}`.replaceAll("\n", "\r\n"),
  "a byte order mark": `\ufeff${chunk({ content: "Hi" })}${stop}`,
  "long and wide letters": chunk({ content: "Grüße 🏔️ 日本 \u2028 \\n \ufeff" }) + stop,
  "bad JSON": `${chunk({ content: "half" })}data: {"choices":[\n\n${chunk({ content: "more" })}${stop}`,
};

/** Replies that only OpenAI and the servers of its kind send. */
export const compatibleShapes: Record<string, string> = {
  "thoughts as reasoning_content":
    chunk({ reasoning_content: "Two " }) + chunk({ reasoning_content: "and two" }) + chunk({ content: "4" }) + stop,
  "thoughts as reasoning": chunk({ reasoning: "Hm", content: "" }) + chunk({ reasoning: null, content: "4" }) + stop,
  "thoughts between words":
    chunk({ content: "a" }) + chunk({ reasoning: "Hm" }) + chunk({ content: "b", reasoning: "so" }) + stop,
  "thoughts, then a call":
    chunk({ reasoning: "Hm" }) +
    tool({ index: 0, id: "call_1", function: { name: "clock", arguments: "{}" } }) +
    stopForTools,
  "thoughts as parts":
    chunk({
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "Hm" }, { type: "image" }] },
        { type: "text", text: "4" },
        { type: "other" },
      ],
    }) + stop,
  "a refusal": chunk({ refusal: "I can" }) + chunk({ refusal: "not." }) + stop,
  "a refusal that is none": chunk({ content: "Hi", refusal: false }) + stop,
  "an error": chunk({ content: "half" }) + event({ error: { message: "boom", type: "server_error", code: 503 } }),
  "an error, and more": event({ error: { message: "boom" } }) + chunk({ content: "more" }) + stop,
  "a call that Gemini signed":
    tool({
      index: 0,
      id: "call_1",
      function: { name: "clock", arguments: "{}" },
      extra_content: { google: { thought_signature: "c2ln" } },
    }) + stopForTools,
  "a call whose name comes late":
    tool({ index: 0, id: "call_1", function: { arguments: '{"a"' } }) +
    tool({ index: 0, function: { name: "clock", arguments: ":1}" } }) +
    stopForTools,
  "a call that never has a name": tool({ index: 0, id: "call_1", function: { arguments: "{}" } }) + stopForTools,
  "no choice but usage": event({ id: "c1", choices: [] }) + chunk({ content: "Hi" }) + stop,
  "a choice without a delta":
    event({ choices: [{ finish_reason: null }] }) + event({ choices: [{ delta: null, finish_reason: "stop" }] }),
  "an unnamed first chunk": event({ id: "", model: "", created: 0, choices: [] }) + chunk({ content: "Hi" }) + stop,
  "more than one choice": event({ choices: [{ delta: { content: "a" } }, { delta: { content: "b" } }] }) + stop,
};

/** Replies that only Mistral sends. */
export const mistralShapes: Record<string, string> = {
  "thoughts as parts":
    chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm" }], closed: false }] }) +
    chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: ", so" }], closed: true }] }) +
    chunk({
      content: [
        { type: "text", text: "4" },
        { type: "reference", reference_ids: [1] },
        { type: "text", text: "." },
      ],
    }) +
    chunk({ content: " Yes." }) +
    stop,
  "a reply that is too long": chunk({ content: "Hi" }, "model_length", { usage }),
  "a reply that failed": chunk({ content: "Hi" }, "error"),
};

const hi = chunk({ content: "Hi" });
const clock = { name: "clock", arguments: "{}" };

/** Replies that the providers' packages refuse, and OpenAI's own client reads. */
export const clientShapes: Record<string, string> = {
  "no reason but [DONE]": hi + event("[DONE]"),
  "a reason that is empty": chunk({ content: "Hi" }, "") + event("[DONE]"),
  "[DONE] alone": event("[DONE]"),
  "more behind [DONE]": `${hi}${stop}${event({ summary: {} })}data: {`,
  "events that are no chunks": event({ pong: true }) + event("5") + hi + event({ choices: null }) + stop,
  "an event with a name": `event: ping\ndata: {"type":"ping"}\n\n${hi}${stop}`,
  "a last event without its blank line": (hi + chunk({}, "stop")).trimEnd(),
  "a message in place of a delta":
    event({ choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }] }) +
    event("[DONE]"),
  "a message that repeats the deltas":
    hi + event({ choices: [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }] }) + event("[DONE]"),
  "a call without a reason": tool({ index: 0, id: "call_1", function: clock }) + event("[DONE]"),
  "a later piece without a function":
    tool({ index: 0, id: "call_1", function: clock }) + tool({ index: 0, function: null }) + stopForTools,
};

/** Replies that no client reads well, although they are complete. */
export const brokenShapes: Record<string, { text: string; calls?: object[]; stream: string }> = {
  "an event without data": { text: "Hi", stream: `data:\n\ndata: \n\n${hi}${stop}` },
  "events that one newline parts": { text: "HiHi", stream: `${hi}${hi}${stop}`.replaceAll("\n\n", "\n") },
  "arguments that are an object": {
    text: "",
    calls: [{ name: "clock", args: { zone: "UTC" } }],
    stream: tool({ index: 0, id: "call_1", function: { name: "clock", arguments: { zone: "UTC" } } }) + stopForTools,
  },
  "arguments that are a list": {
    text: "",
    calls: [{ name: "clock", args: [] }],
    stream: tool({ index: 0, id: "call_1", function: { name: "clock", arguments: [] } }) + stopForTools,
  },
  "numbers as texts, and ids that are numbers": {
    text: "",
    calls: [{ name: "clock", args: { zone: "UTC" } }],
    stream:
      tool({ index: "0", id: 7, function: { name: "clock", arguments: '{"zo' } }) +
      tool({ index: "0", id: 7, function: { arguments: 'ne":"UTC"}' } }) +
      stopForTools,
  },
  "events with a name that hold no JSON": {
    text: "Hi",
    stream: `event: ping\ndata: still here\n\n${hi}event: time\ndata: 2026-11-28\ndata: 14:00\n\n${stop}`,
  },
  "later pieces that are named null": {
    text: "",
    calls: [{ name: "clock", args: { zone: "UTC" } }],
    stream:
      tool({ index: 0, id: "call_1", type: "FUNCTION", function: { name: "clock", arguments: '{"zo' } }) +
      tool({ index: 0, id: "", type: "FUNCTION", function: { name: "null", arguments: 'ne":"' } }) +
      tool({ index: 0, id: "", function: { name: "null", arguments: 'UTC"}' } }) +
      stopForTools,
  },
  "later pieces that are named null and not numbered": {
    text: "",
    calls: [{ name: "clock", args: { zone: "UTC" } }],
    stream:
      tool({ id: "call_1", function: { name: "clock", arguments: '{"zone"' } }) +
      tool({ function: { name: "null", arguments: ':"UTC"}' } }) +
      stopForTools,
  },
};
