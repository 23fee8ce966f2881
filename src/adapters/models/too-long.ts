import { TtlCache } from "../../core/cache.ts";
import { digest, toBase64, toHex } from "../../core/ids.ts";
import type { ModelCall } from "../../core/ports.ts";

type Prompt = ModelCall["prompt"];

/**
 * A prompt without the older half of its conversation, which is cut before a message of the user. Null where only the
 * user's last messages and the replies to them are left.
 */
export function withoutOlder(prompt: Prompt): Prompt | null {
  const [system, conversation] = split(prompt);
  const cuts = conversation.flatMap(({ role }, at) =>
    at > 0 && role === "user" && conversation[at - 1]?.role !== "user" ? [at] : [],
  );
  const cut = cuts[cuts.length >> 1];
  return cut === undefined ? null : [...system, ...conversation.slice(cut)];
}

/** The system prompt, and the conversation after it. */
function split(prompt: Prompt): [system: Prompt, conversation: Prompt] {
  const start = prompt.findIndex(({ role }) => role !== "system");
  return start === -1 ? [prompt, []] : [prompt.slice(0, start), prompt.slice(start)];
}

interface LongConversation {
  messages: number;
  /** The digest of the conversation's messages. */
  digest: string;
  /** How many of its last messages the model took. */
  taken: number;
}

/**
 * The conversations that a model refused as too long, with the part of each that it took. Lengths are not compared: how
 * many tokens a text has depends on its words. A call that holds a refused conversation word for word is too long as well;
 * any other call is sent whole. An entry lives for `ttlMs`, since a server may get a larger context.
 */
export class LongConversations {
  readonly #known: TtlCache<LongConversation>;

  constructor(ttlMs: number, now: () => number) {
    this.#known = new TtlCache({ ttlMs, limit: 100, now });
  }

  /** Remembers that the model refused a call as too long, and took another with the last messages of its conversation. */
  async add(refused: ModelCall, taken: ModelCall): Promise<void> {
    const [, conversation] = split(refused.prompt);
    this.#known.set(await keyOf(await frameOf(refused), conversation.at(-1)), {
      messages: conversation.length,
      digest: await digestOf(conversation),
      taken: split(taken.prompt)[1].length,
    });
  }

  /** The call without the older messages with which it is known to be too long. */
  async shorten<Call extends ModelCall>(call: Call): Promise<Call> {
    const [system, conversation] = split(call.prompt);
    if (!this.#known.values().some(({ messages }) => messages <= conversation.length)) return call;
    const frame = await frameOf(call);
    // The newest messages may have come after the refusal.
    for (let end = conversation.length; end > 0; end -= 1) {
      const refused = this.#known.get(await keyOf(frame, conversation[end - 1]))?.value;
      if (!refused || refused.messages > end) continue;
      if ((await digestOf(conversation.slice(end - refused.messages, end))) !== refused.digest) continue;
      return { ...call, prompt: [...system, ...conversation.slice(end - refused.taken)] };
    }
    return call;
  }
}

/** The digest of a call without its conversation. Times and dates in the prompt have as many tokens as any other. */
function frameOf({ prompt, tools, toolChoice, maxOutputTokens, reasoning }: ModelCall): Promise<string> {
  const texts = split(prompt)[0].map(({ content }) => String(content).replace(/\d/g, "0"));
  return digestOf([texts, tools, toolChoice, maxOutputTokens, reasoning]);
}

/** Computed for each message of a call: of a picture, which may have megabytes, only the size is read. */
const keyOf = (frame: string, last: Prompt[number] | undefined) =>
  digestOf([frame, last], ({ byteLength }) => byteLength);

async function digestOf(value: unknown, picture: (bytes: Uint8Array) => unknown = toBase64): Promise<string> {
  const json = JSON.stringify(value, (_, inner) => (inner instanceof Uint8Array ? picture(inner) : inner));
  return toHex(await digest(json));
}
