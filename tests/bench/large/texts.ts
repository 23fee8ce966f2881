import { searchWords } from "../../../src/features/conversations/index-messages.ts";

/** A question with its reply, as the engine stores them. */
export interface Exchange {
  asked: string;
  askedWords: string;
  said: string;
  saidWords: string;
}

/** The words that texts are made of. The first ones are in most texts, the last ones in hardly any. */
const vocabulary = 30_000;

const syllables = "ba co di fu ga le mi no pe ra si to ve zu kan lor mer tis und sol".split(" ");

/** The word of a rank, such as `lermi`. */
export function wordAt(rank: number): string {
  let [word, rest] = ["", rank + syllables.length];
  for (; rest > 0; rest = Math.floor(rest / syllables.length)) word += syllables[rest % syllables.length];
  return word;
}

/** Different exchanges, always the same ones: 4 to 20 words are asked, 10 to 90 are said. */
export function exchanges(count: number): Exchange[] {
  const random = randomNumbers(1);
  const text = (least: number, most: number) =>
    `${Array.from({ length: least + Math.floor(random() * (most - least)) }, () => {
      // As in natural texts, the word of rank n comes as often as 1/n.
      return wordAt(Math.floor(vocabulary ** random()) - 1);
    }).join(" ")}.`;
  return Array.from({ length: count }, () => {
    const [asked, said] = [text(4, 20), text(10, 90)];
    return { asked, said, askedWords: searchWords(asked), saidWords: searchWords(said) };
  });
}

/** The same numbers from 0 to 1 in every run (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
