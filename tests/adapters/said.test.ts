import { describe, expect, test } from "vitest";
import { saidIn } from "../../src/adapters/models/said.ts";
import { lengthWords, limitWords } from "../../src/core/models/provider-failure.ts";

/** A request as a server repeats it. */
const request = {
  model: "m",
  messages: [{ role: "user", content: 'Which "context length" has it? It\'s } {"a": [' }],
  temperature: 0.3,
  max_tokens: 900_000,
  stream_options: { include_usage: true },
};

/** As Python writes it. */
const written =
  "{'model': 'm', 'messages': [{'role': 'user', 'content': \"What's {'the context length'?\"}], 'temperature': 0.3, 'max_tokens': 900000}";

const names = /messages|temperature|max_tokens|stream_options|context length/;

describe("what is said without what is repeated", () => {
  test.each([
    ["FastAPI", { detail: [{ type: "missing", loc: ["body", "thinking"], msg: "Field required", input: request }] }],
    ["a gateway", { error: { message: "No thinking", type: "bad", request } }],
    ["a gateway that names it otherwise", { error: "No thinking", sent: { body: request } }],
    ["Google's", { error: { message: "No thinking" }, sent: { contents: [{ parts: [] }], temperature: 1 } }],
    ["a gateway that wraps it", { error: { message: `No thinking in ${JSON.stringify(request)}` } }],
    [
      "OpenRouter",
      { error: { message: "Provider returned error", metadata: { raw: JSON.stringify({ thinking: 1, request }) } } },
    ],
    [
      "vLLM",
      {
        object: "error",
        message: `[{'type': 'extra_forbidden', 'loc': ('body', 'thinking'), 'msg': 'Extra inputs are not permitted', 'input': ${written}}]`,
      },
    ],
    [
      "pydantic",
      {
        message: `1 validation error for Body\nthinking\n  Extra inputs are not permitted [type=extra_forbidden, input_value=${written}, input_type=dict]`,
      },
    ],
    [
      "Bedrock",
      {
        message:
          "Failed to deserialize the JSON body into the target type: thinking: unknown field `thinking`, expected one of `messages`, `model`, `max_tokens`, `stream_options`, `temperature`, or `user` at line 1 column 212",
      },
    ],
  ])("by %s", (_by, body) => {
    const said = saidIn("", JSON.stringify(body));
    expect(said).toMatch(/thinking/i);
    expect(said).not.toMatch(names);
  });

  test("in the message, in a body that is no JSON, and in one that is cut off", () => {
    const echo = JSON.stringify(request);
    expect(saidIn(`No thinking: ${echo} (of m)`)).toBe("No thinking: {} (of m) ".replace("{}", ""));
    expect(saidIn("", `<p>No thinking: ${echo}</p>`)).toBe(" <p>No thinking: </p>");
    const body = JSON.stringify({ detail: [{ loc: ["body", "thinking"], input: request }] });
    for (let length = body.indexOf('"messages":[') + 12; length < body.length - 4; length += 1) {
      expect(saidIn("", body.slice(0, length))).not.toMatch(names);
    }
    // A log that encodes JSON once more.
    expect(saidIn(`No thinking: ${JSON.stringify(echo).slice(1, -1)} (of m)`)).toBe("No thinking:  (of m) ");
  });

  test("everything else stays, however it is written", () => {
    const said = [
      "Unsupported value: 'temperature' does not support {0.3} with this model's \"mode\" {'a': 1}",
      "Additional properties are not allowed ('stream_options' was unexpected) - 'messages'",
      "the 'input' is { too long",
    ];
    for (const words of said) expect(saidIn(words)).toBe(`${words} `);
    const body = {
      error: { message: "Bad", param: "temperature", errors: { max_tokens: ["too large"], input: ["too long"] } },
    };
    expect(saidIn("", JSON.stringify(body))).toBe(` ${JSON.stringify(body)}`);
  });

  test("a body of braces, quotes or backslashes takes no time", () => {
    const begun = performance.now();
    for (const piece of ["{", "{[", '{"', "\\", "{'\\", '"input":{', '{"messages":[', "expected `a`, "]) {
      saidIn(piece.repeat(64_000 / piece.length), piece.repeat(64_000 / piece.length));
    }
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});

/** The words in which providers say it, as people have reported them. */
describe("a prompt is too long", () => {
  test.each([
    // OpenAI, Azure, and those that speak as they do.
    "This model's maximum context length is 4097 tokens. However, you requested 4203 tokens (3703 in the messages, 500 in the completion). Please reduce the length of the messages or completion.",
    "This model's maximum context length is 8192 tokens, however you requested 8977 tokens (8977 in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
    '{"error":{"message":"Bad","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}',
    // vLLM, SGLang, TensorRT-LLM and llama.cpp.
    "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=262145)",
    "The input (400013 tokens) is longer than the model's context length (262144 tokens).",
    "Input length (265330) exceeds model's maximum context length (262144).",
    '{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}',
    // Ollama, LM Studio and Apple's MLX.
    "prompt too long; exceeded max context length by 5 tokens",
    "input length exceeds maximum context length",
    "Trying to keep the first 5000 tokens when context overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
    "Prompt exceeds maximum context length",
    // OpenRouter, with the words of those behind it.
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens (100000 of text input, 50000 in the output). Please reduce the length of either one.",
    "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
    // Cerebras, Bedrock, MiniMax, and others behind LiteLLM.
    "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000",
    "Input is too long for requested model.",
    "invalid params, context window exceeds limit",
    "litellm.BadRequestError: Prompt token count of 4662 exceeds max token count of 4095.",
    // Anthropic, where the limit of tokens counts with the prompt.
    "input length and `max_tokens` exceed context limit: 170636 + 34048 > 200000, decrease input length or `max_tokens` and try again",
    "the length of the prompt and max_tokens exceeds the context window",
  ])("%s", (words) => {
    expect(lengthWords.test(words)).toBe(true);
    expect(limitWords.test(words)).toBe(false);
  });

  test.each([
    // Groq, for a prompt of one word.
    "`max_completion_tokens` must be less than or equal to `16384`, the maximum value for `max_completion_tokens` is less than the `context_window` for this model",
    "max_tokens (9000) exceeds the context length of 8192",
    "'max_tokens' cannot be larger than the context window",
  ])("is not what %s says, but that the limit of tokens is", (words) => {
    expect(lengthWords.test(words)).toBe(false);
    expect(limitWords.test(words)).toBe(true);
  });

  test.each([
    "Unsupported parameter: 'temperature'; see the context length docs",
    "Unrecognized request argument supplied: context_window",
    '[{"type":"extra_forbidden","loc":["body","context_length"],"msg":"Extra inputs are not permitted"}]',
    "zai does not support parameters: ['context_size'], for model=glm",
    "No such tool in this context",
  ])("is not what %s says", (words) => {
    expect(lengthWords.test(words)).toBe(false);
    expect(limitWords.test(words)).toBe(false);
  });
});
