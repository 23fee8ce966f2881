import { TtlCache } from "../../core/cache.ts";
import { digest, toBase64, toHex } from "../../core/ids.ts";
import type { ModelCall } from "../../core/ports.ts";
import { conversationStart } from "./older.ts";

/** How many refusals of a model are known at once. */
const mostKnown = 100;

interface Refused {
  /** The digest of all that the call had beside its conversation. */
  frame: string;
  /** The digest of the conversation, and how many messages it has. */
  conversation: string;
  messages: number;
  /** How many of these messages, the last ones, the model took. */
  taken: number;
}

/**
 * What a model refused as too long, and what it took of that. No length is compared: how many tokens a text has depends on
 * what it says. A call that holds a refused one word for word is longer whatever a token is, so nothing that would have
 * fit is left out; any other call is asked whole. It lives for `ttlMs`, since a server may get a larger context.
 */
export class TooLong {
  /** By the digest of the frame and the last message. */
  readonly #known: TtlCache<Refused>;

  constructor(ttlMs: number, now: () => number) {
    this.#known = new TtlCache({ ttlMs, limit: mostKnown, now });
  }

  /** The model refused a call as too long, and took another with the last messages of its conversation. */
  async note(refused: ModelCall, taken: ModelCall): Promise<void> {
    const conversation = conversationOf(refused);
    const frame = await frameOf(refused);
    this.#known.set(await keyOf(frame, conversation), {
      frame,
      conversation: await digestOf(conversation),
      messages: conversation.length,
      taken: conversationOf(taken).length,
    });
  }

  /** The call without the older messages with which it is known to be too long. */
  async shorten<Call extends ModelCall>(call: Call): Promise<Call> {
    const known = this.#known.values();
    const conversation = conversationOf(call);
    if (!known.some(({ messages }) => messages <= conversation.length)) return call;
    const frame = await frameOf(call);
    const fewest = Math.min(...known.map((refused) => (refused.frame === frame ? refused.messages : Infinity)));
    // What came since the refusal is at the end.
    for (let end = conversation.length; end >= fewest; end -= 1) {
      const refused = this.#known.get(await keyOf(frame, conversation.slice(0, end)))?.value;
      if (!refused || refused.messages > end) continue;
      if ((await digestOf(conversation.slice(end - refused.messages, end))) !== refused.conversation) continue;
      const system = call.prompt.slice(0, conversationStart(call.prompt));
      return { ...call, prompt: [...system, ...conversation.slice(end - refused.taken)] };
    }
    return call;
  }
}

const conversationOf = ({ prompt }: ModelCall) => prompt.slice(conversationStart(prompt));

/** The time and the date in the prompt are as long in tokens whatever they are. */
function frameOf({ prompt, tools, toolChoice, maxOutputTokens, reasoning }: ModelCall): Promise<string> {
  const system = prompt.slice(0, conversationStart(prompt)).map(({ content }) => String(content).replace(/\d/g, "0"));
  return digestOf([system, tools, toolChoice, maxOutputTokens, reasoning]);
}

/** Made of message after message, mostly of other conversations: of a picture, which may have megabytes, its size does. */
const keyOf = (frame: string, conversation: ModelCall["prompt"]) =>
  digestOf([frame, conversation.at(-1)], ({ byteLength }) => byteLength);

async function digestOf(value: unknown, picture: (bytes: Uint8Array) => unknown = toBase64): Promise<string> {
  const json = JSON.stringify(value, (_, inner) => (inner instanceof Uint8Array ? picture(inner) : inner));
  return toHex(await digest(json));
}
