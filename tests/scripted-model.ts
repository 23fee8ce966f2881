import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";

type Part = LanguageModelV4StreamPart;

/** A part, some parts, a gate (the stream waits for it), or an error (the stream breaks with it). */
export type ScriptItem = Part | readonly Part[] | Promise<unknown> | Error;

/** The behaviour of one call of the model. */
export interface ScriptStep {
  parts?: readonly ScriptItem[];
  /** The call rejects with this, before there is a stream. */
  fail?: unknown;
  /** The call answers only when this settles. */
  opens?: Promise<unknown>;
  /** Whether the call ignores its abort signal, as some providers do. */
  deaf?: boolean;
}

export interface ScriptedCall {
  /** A copy of the prompt at the time of the call. */
  prompt: LanguageModelV4Prompt;
  options: LanguageModelV4CallOptions;
  /** Whether the reader cancelled the stream before its end. */
  cancelled: boolean;
}

export interface ScriptedModel extends LanguageModelV4 {
  readonly calls: readonly ScriptedCall[];
  /** Resolves when the model was called for the `n`-th time, counted from 1. */
  called(n: number): Promise<ScriptedCall>;
}

/**
 * A model that does what the test wrote: one step for each call, or a function that decides by the call. A call beyond
 * the script rejects.
 */
export function scriptedModel(
  script: readonly ScriptStep[] | ((call: ScriptedCall, index: number) => ScriptStep),
): ScriptedModel {
  const calls: ScriptedCall[] = [];
  const waiters: { n: number; resolve: (call: ScriptedCall) => void }[] = [];

  const begin = (options: LanguageModelV4CallOptions): { call: ScriptedCall; step: ScriptStep } => {
    const call: ScriptedCall = { prompt: structuredClone(options.prompt), options, cancelled: false };
    calls.push(call);
    for (const { n, resolve } of waiters) if (n === calls.length) resolve(call);
    const index = calls.length - 1;
    const step = typeof script === "function" ? script(call, index) : script[index];
    if (!step) throw new Error(`The scripted model has no step for call ${calls.length}`);
    return { call, step };
  };

  return {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    calls,
    called: (n) =>
      new Promise((resolve) => {
        const call = calls[n - 1];
        if (call) resolve(call);
        else waiters.push({ n, resolve });
      }),
    async doStream(options) {
      const { call, step } = begin(options);
      const signal = step.deaf ? undefined : options.abortSignal;
      if (step.opens) await unlessAborted(step.opens, signal);
      signal?.throwIfAborted();
      if ("fail" in step) throw step.fail;
      return { stream: play(step.parts ?? [], signal, call) };
    },
    async doGenerate() {
      throw new Error("The engine streams; doGenerate is not scripted");
    },
  };
}

function play(items: readonly ScriptItem[], signal: AbortSignal | undefined, call: ScriptedCall): ReadableStream<Part> {
  const queue = items.flatMap((item): (Part | Promise<unknown> | Error)[] => (isParts(item) ? [...item] : [item]));
  return new ReadableStream<Part>(
    {
      async pull(controller) {
        for (let item = queue.shift(); item; item = queue.shift()) {
          signal?.throwIfAborted();
          if (item instanceof Error) throw item;
          if (!(item instanceof Promise)) return controller.enqueue(item);
          await unlessAborted(item, signal);
        }
        controller.close();
      },
      cancel() {
        call.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
}

function isParts(item: ScriptItem): item is readonly Part[] {
  return Array.isArray(item);
}

async function unlessAborted(gate: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return void (await gate);
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([gate, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

let blocks = 0;

/** A block of text, with a delta for each argument. */
export function text(...deltas: string[]): Part[] {
  blocks += 1;
  const id = `text-${blocks}`;
  return [
    { type: "text-start", id },
    ...deltas.map((delta): Part => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
  ];
}

/** A single delta of text. With gates between several, a reply stops midway. */
export function textDelta(delta: string): Part {
  return { type: "text-delta", id: "text", delta };
}

/** A block of reasoning, with a delta for each argument. */
export function reasoning(...deltas: string[]): Part[] {
  blocks += 1;
  const id = `reasoning-${blocks}`;
  return [
    { type: "reasoning-start", id },
    ...deltas.map((delta): Part => ({ type: "reasoning-delta", id, delta })),
    { type: "reasoning-end", id },
  ];
}

/** A whole tool call. A string as `args` is sent unchanged, so that it need not be JSON. */
export function toolCall(id: string, name: string, args: unknown = {}): Part[] {
  const input = typeof args === "string" ? args : JSON.stringify(args);
  return [
    { type: "tool-input-start", id, toolName: name },
    { type: "tool-input-delta", id, delta: input },
    { type: "tool-input-end", id },
    { type: "tool-call", toolCallId: id, toolName: name, input },
  ];
}

type FinishReason = Extract<Part, { type: "finish" }>["finishReason"]["unified"];

/** The end of a call, with its count of tokens. */
export function finish(reason: FinishReason = "stop", { input = 1, output = 1, cached = 0 } = {}): Part {
  return {
    type: "finish",
    finishReason: { unified: reason, raw: reason },
    usage: {
      inputTokens: { total: input, noCache: input - cached, cacheRead: cached, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
  };
}

/** A step that replies with these deltas and stops. */
export function reply(...deltas: string[]): ScriptStep {
  return { parts: [text(...deltas), finish("stop")] };
}

/** A promise that the test resolves with `open`. */
export function gate(): { promise: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, open: resolve };
}
