import { TtlCache } from "../../core/cache.ts";
import { digest, toBase64, toHex } from "../../core/ids.ts";
import type { ModelCall } from "../../core/ports.ts";

type Prompt = ModelCall["prompt"];

/**
 * A prompt without the older half of its conversation, cut before a user's message. Null when only the user's last
 * messages and their replies are left.
 */
export function withoutOlder(prompt: Prompt): Prompt | null {
  const [system, conversation] = split(prompt);
  const cuts = conversation.flatMap(({ role }, at) =>
    at > 0 && role === "user" && conversation[at - 1]?.role !== "user" ? [at] : [],
  );
  const cut = cuts[cuts.length >> 1];
  return cut === undefined ? null : [...system, ...conversation.slice(cut)];
}

/** Splits a prompt into the system prompt and the conversation. */
function split(prompt: Prompt): [system: Prompt, conversation: Prompt] {
  const start = prompt.findIndex(({ role }) => role !== "system");
  return start === -1 ? [prompt, []] : [prompt.slice(0, start), prompt.slice(start)];
}

interface LongConversation {
  messages: number;
  /** The digest of the messages of the conversation. */
  digest: string;
  /** How many of the last messages the model accepted. */
  taken: number;
}

/**
 * Conversations that a model refused as too long, each with the part that it then accepted. Lengths are not compared,
 * since a text's tokens depend on its words. A call that contains a refused conversation unchanged is too long, too;
 * any other is sent whole. An entry lives for `ttlMs`, since a server may get a larger context.
 */
export class LongConversations {
  readonly #known: TtlCache<LongConversation>;

  constructor(ttlMs: number, now: () => number) {
    this.#known = new TtlCache({ ttlMs, limit: 100, now });
  }

  /** Notes that a model refused a call as too long, and then accepted one with the last messages of the conversation. */
  async add(refused: ModelCall, taken: ModelCall): Promise<void> {
    const [, conversation] = split(refused.prompt);
    this.#known.set(await keyOf(await frameOf(refused), conversation.at(-1)), {
      messages: conversation.length,
      digest: await digestOf(conversation),
      taken: split(taken.prompt)[1].length,
    });
  }

  /** The call without the older messages that make it too long. */
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

/** The digest of a call without its conversation. Digits are masked, since another time or date has as many tokens. */
function frameOf({ prompt, tools, toolChoice, maxOutputTokens, reasoning }: ModelCall): Promise<string> {
  const texts = split(prompt)[0].map(({ content }) => String(content).replace(/\d/g, "0"));
  return digestOf([texts, tools, toolChoice, maxOutputTokens, reasoning]);
}

/** The key of a message within a call. A picture may have megabytes, so only its size is used. */
const keyOf = (frame: string, last: Prompt[number] | undefined) =>
  digestOf([frame, last], ({ byteLength }) => byteLength);

async function digestOf(value: unknown, picture: (bytes: Uint8Array) => unknown = toBase64): Promise<string> {
  const json = JSON.stringify(value, (_, inner) => (inner instanceof Uint8Array ? picture(inner) : inner));
  return toHex(await digest(json));
}
