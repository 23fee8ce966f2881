import type { EngineError } from "../../../core/errors.ts";
import { vendorType } from "../../../http/errors.ts";
import type { TurnListener } from "../../../turn/observers.ts";
import { isOutput } from "../../../turn/relay.ts";
import type { TurnOutcome } from "../../../turn/types.ts";
import type { Usage } from "../../../turn/usage.ts";
import { endingError, type LiveAgent } from "../../turns/index.ts";

/** The fields that the completion object and its chunks share. */
export interface CompletionHead {
  id: string;
  /** Seconds since the epoch. */
  created: number;
  agent: LiveAgent;
}

/** The completion object of spec "Chat objects". */
export function completion({ id, created, agent }: CompletionHead, content: string, usage: Usage) {
  return {
    id,
    object: "chat.completion",
    created,
    model: agent.row.slug,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: wireUsage(usage),
  };
}

export type ChunkEncoder = ReturnType<typeof chunkEncoder>;

/** Encodes a streamed completion. The usage chunk needs both `usageWanted` and the agent's `streamUsageEnabled`. */
export function chunkEncoder({ id, created, agent }: CompletionHead, usageWanted: boolean) {
  const { slug, streamUsageEnabled } = agent.row;
  const head = `data: {"id":"${id}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(slug)},`;
  const chunk = (delta: string, finish: string) =>
    `${head}"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}\n\n`;
  const done = "data: [DONE]\n\n";
  const error = ({ message, status, code }: EngineError) =>
    `data: ${JSON.stringify({ error: { message, type: vendorType(status), code } })}\n\n${done}`;
  const usage = (tokens: Usage) => `${head}"choices":[],"usage":${JSON.stringify(wireUsage(tokens))}}\n\n`;
  const text = (content: string) => chunk(`{"content":${JSON.stringify(content)}}`, "null");
  const end = (tokens: Usage) =>
    chunk("{}", `"stop"`) + (streamUsageEnabled && usageWanted ? usage(tokens) : "") + done;

  return {
    first: chunk(`{"role":"assistant","content":""}`, "null"),
    text,
    error,
    last(outcome: TurnOutcome) {
      const failure = endingError(outcome);
      if (failure) return error(failure);
      const waiting = pendingSentence(outcome);
      return (waiting === "" ? "" : text(waiting)) + end(outcome.usage);
    },
    end,
  };
}

/** Holds back the chunks of a turn until `open`, then writes each chunk to the response. */
export interface ChunkRelay {
  listener: TurnListener;
  /** Resolves with the first output. */
  begun: Promise<null>;
  open(write: (text: string) => void): void;
  write(text: string): void;
  /** Drops all later chunks. */
  mute(): void;
}

export function relayChunks(encode: ChunkEncoder): ChunkRelay {
  const { promise: begun, resolve } = Promise.withResolvers<null>();
  let pending = encode.first;
  let write = (text: string) => {
    pending += text;
  };
  return {
    listener: {
      event(event) {
        if (event.type === "text-delta") write(encode.text(event.text));
        if (isOutput(event)) resolve(null);
      },
    },
    begun,
    open(sink) {
      write = sink;
      write(pending);
    },
    write: (text) => write(text),
    mute() {
      write = () => {};
    },
  };
}

/** The sentence appended to the text of a turn that waits for approval; empty for other turns. */
export function pendingSentence(outcome: TurnOutcome): string {
  if (outcome.status !== "approval") return "";
  return approvalSentence(
    outcome.text,
    outcome.pending.map(({ toolName }) => toolName),
  );
}

export function approvalSentence(text: string, tools: readonly string[]): string {
  if (tools.length === 0) return "";
  return `${text === "" ? "" : "\n\n"}Approval is pending for: ${[...new Set(tools)].join(", ")}.`;
}

function wireUsage({ promptTokens, completionTokens }: Usage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
