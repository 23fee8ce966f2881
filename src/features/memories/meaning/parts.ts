import { TextsRefused } from "../../../core/errors.ts";
import type { Embedder } from "../../../core/ports.ts";

/** A text that no model has a reason to refuse. */
const harmless = "Hello";

/** Told of each part of the texts as soon as it is settled, so that what fails later leaves less to do. */
interface Keep<Text> {
  embedded(part: readonly Text[], vectors: readonly (readonly number[])[]): Promise<void>;
  /** The model did not take the text alone. */
  refused(text: Text): Promise<void>;
}

/** From this attempt on a text that a model fails at counts as refused: it failed at no other one. */
const attemptsOfText = 3;

/**
 * Has texts embedded. Those that the model refuses are halved until each is taken or refused alone, so that none keeps
 * the others from their vectors. Rejects as the embedder does, also where it refuses a harmless text: then these texts
 * are not the reason; and once all others are settled, where it failed at one that the next attempt may mend.
 */
export async function embedInParts<Text extends { content: string }>(
  embedder: Pick<Embedder, "embed">,
  texts: readonly Text[],
  keep: Keep<Text>,
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
