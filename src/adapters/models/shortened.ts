import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { lengthWords } from "../../core/models/provider-failure.ts";
import { type ModelCall, type PartsReader, shortened } from "../../core/ports.ts";
import { withoutOlder } from "./older.ts";
import { saidIn } from "./said.ts";

type Part = LanguageModelV4StreamPart;

/** A call that a provider took, and its reply. */
export interface Opened {
  asked: ModelCall;
  /** The last call before it that the provider refused as too long. */
  refused: ModelCall | null;
  reader: PartsReader;
}

/** How a provider is asked, and who hears what it took in place of a call that it refused as too long. */
interface Asking {
  open(call: ModelCall): Promise<Opened>;
  note(refused: ModelCall, taken: ModelCall): Promise<void>;
}

/** The parts that say nothing yet. */
const openings: ReadonlySet<Part["type"]> = new Set(["stream-start", "response-metadata", "raw"]);

/**
 * Reads the reply to `call`. LM Studio and OpenAI say only in its stream that a conversation is too long: then it asks
 * again without the older half. A reply to a part of the conversation begins with the warning `shortened`.
 */
export class ShortenedReader implements PartsReader {
  readonly #call: ModelCall;
  readonly #asking: Asking;
  #opened: Opened;
  #begun = false;
  #cancelled = false;

  constructor(call: ModelCall, opened: Opened, asking: Asking) {
    this.#call = call;
    this.#opened = opened;
    this.#asking = asking;
  }

  read(): ReturnType<PartsReader["read"]> {
    return this.#begun ? this.#opened.reader.read() : this.#begin();
  }

  cancel(): Promise<void> {
    this.#cancelled = true;
    return this.#opened.reader.cancel();
  }

  async #begin(): ReturnType<PartsReader["read"]> {
    const { asked, refused, reader } = this.#opened;
    const read = await reader.read();
    const parts = read.value === undefined ? [] : [read.value].flat();
    const first = parts.find(({ type }) => !openings.has(type));
    const prompt = first && isTooLong(first) ? withoutOlder(asked.prompt) : null;
    if (!prompt || this.#cancelled) {
      this.#begun = read.done || first !== undefined;
      if (refused && first && first.type !== "error") await this.#asking.note(refused, asked);
      if (!first || asked.prompt.length === this.#call.prompt.length) return read;
      return { done: false, value: [{ type: "stream-start", warnings: [shortened] }, ...parts] };
    }
    // Not awaited: a provider may never answer the cancel.
    void reader.cancel().catch(() => {});
    const opened = await this.#asking.open({ ...asked, prompt });
    this.#opened = { ...opened, refused: opened.refused ?? asked };
    if (this.#cancelled) void this.#opened.reader.cancel().catch(() => {});
    return { done: false, value: [] };
  }
}

function isTooLong(part: Part): boolean {
  if (part.type !== "error") return false;
  const { error } = part;
  return lengthWords.test(error instanceof Error ? saidIn(error.message) : saidIn("", JSON.stringify(error)));
}
