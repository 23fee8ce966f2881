import { describe, expect, test } from "vitest";
import { lengthWords } from "../../src/core/models/provider-failure.ts";

/** The error texts of providers, as people have reported them. */
describe("a prompt is too long", () => {
  test.each([
    // OpenAI, Azure, and compatible servers.
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
    // OpenRouter, with the texts of the providers behind it.
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens (100000 of text input, 50000 in the output). Please reduce the length of either one.",
    "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
    // Cerebras, Bedrock, MiniMax, and others behind LiteLLM.
    "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000",
    "Input is too long for requested model.",
    "invalid params, context window exceeds limit",
    "litellm.BadRequestError: Prompt token count of 4662 exceeds max token count of 4095.",
    // Anthropic, where the token limit of the reply counts with the prompt.
    "input length and `max_tokens` exceed context limit: 170636 + 34048 > 200000, decrease input length or `max_tokens` and try again",
    "the length of the prompt and max_tokens exceeds the context window",
  ])("%s", (words) => {
    expect(lengthWords.test(words)).toBe(true);
  });

  test.each([
    // Groq, for a prompt of one word.
    "`max_completion_tokens` must be less than or equal to `16384`, the maximum value for `max_completion_tokens` is less than the `context_window` for this model",
    "max_tokens (9000) exceeds the context length of 8192",
    "'max_tokens' cannot be larger than the context window",
  ])("is not what %s says, but that the limit of tokens is too large", (words) => {
    expect(lengthWords.test(words)).toBe(false);
  });

  test.each([
    "Unsupported parameter: 'temperature'; see the context length docs",
    "Unrecognized request argument supplied: context_window",
    '[{"type":"extra_forbidden","loc":["body","context_length"],"msg":"Extra inputs are not permitted"}]',
    "zai does not support parameters: ['context_size'], for model=glm",
    "No such tool in this context",
    "temperature must be at least 1, got -1",
  ])("is not what %s says", (words) => {
    expect(lengthWords.test(words)).toBe(false);
  });
});
