import { TextsRefused } from "../../../core/errors.ts";
import type { Embedder } from "../../../core/ports.ts";

/** A text that no model has a reason to refuse. */
const harmless = "Hello";

/** Stores each finished part of the texts, so that less is left to do after a failure. */
interface EmbeddingStore<Text> {
  embedded(part: readonly Text[], vectors: readonly (readonly number[])[]): Promise<void>;
  /** The model refused the text alone. */
  refused(text: Text): Promise<void>;
}

/** From this attempt on, a text at which the model fails counts as refused, since the model accepted all others. */
const attemptsOfText = 3;

/**
 * Embeds texts. A refused batch is halved until each text is accepted or refused alone, so that one text does not cost the
 * others their vectors. Rejects as the embedder does; also when the model refuses even a harmless text, since then these
 * texts are not the cause. After a failure at a text that the next attempt may embed, rejects once all others are done.
 */
export async function embedInParts<Text extends { content: string }>(
  embedder: Pick<Embedder, "embed">,
  texts: readonly Text[],
  keep: EmbeddingStore<Text>,
  { attempt, signal }: { attempt: number; signal: AbortSignal },
): Promise<void> {
  const parts = [texts];
  let works = false;
  let failure: TextsRefused | null = null;
  for (let part = parts.shift(); part; part = parts.shift()) {
    const answer = await ask(embedder, part, signal);
    signal.throwIfAborted();
    if (!(answer instanceof TextsRefused)) {
      await keep.embedded(part, answer);
      continue;
    }
    if (!works) await embedder.embed([harmless], signal);
    works = true;
    const half = part.length >> 1;
    const [alone] = part;
    if (half > 0) parts.push(part.slice(0, half), part.slice(half));
    else if (answer.failed && attempt < attemptsOfText) failure = answer;
    else if (alone) await keep.refused(alone);
  }
  if (failure) throw failure;
}

async function ask(
  embedder: Pick<Embedder, "embed">,
  part: readonly { content: string }[],
  signal: AbortSignal,
): Promise<readonly (readonly number[])[] | TextsRefused> {
  const contents = part.map(({ content }) => content);
  try {
    return await embedder.embed(contents, signal);
  } catch (error) {
    if (error instanceof TextsRefused) return error;
    throw error;
  }
}
