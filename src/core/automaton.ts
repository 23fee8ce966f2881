import { Nodes, notYet } from "./automaton-nodes.ts";

/** Buckets for the first three characters of the needles; enough that hundreds of needles leave most of them empty. */
const buckets = 1 << 14;
const bucketOf = (first: number, second: number, third: number) =>
  ((first * 961 + second * 31 + third) * 0x9e3779b1) >>> 18;

/** So many prefixes take about 14 MB. */
const maxNodes = 1 << 19;

/** What is looked for, sorted, so that those with the same start are neighbours. */
interface Dictionary {
  needles: readonly string[];
  starts: Uint8Array;
}

/**
 * Finds any of many texts in one pass, and knows at each character how much of one may have begun (Aho and Corasick,
 * "Efficient string matching", 1975). The state 0 is the beginning. A state is made when a text first leads there, so
 * that long needles cost nothing until they are met, and what they share is followed once.
 */
export class Automaton {
  readonly #dictionary: Dictionary;
  readonly #nodes: Nodes;
  #limit = maxNodes;

  /** Of at least three characters each. */
  static of(needles: Iterable<string>): Automaton {
    const sorted = [...new Set(needles)].sort();
    const starts = new Uint8Array(buckets);
    for (const needle of sorted) starts[startBucket(needle, 0)] = 1;
    return new Automaton({ needles: sorted, starts });
  }

  private constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
    this.#nodes = new Nodes(dictionary.needles);
  }

  /** Whether so much was met that it should be forgotten. */
  get full(): boolean {
    return this.#nodes.size > this.#limit;
  }

  /** The same without what other texts met, and the state in it that says the same as this one. */
  renewed(state: number): { automaton: Automaton; state: number } {
    const automaton = new Automaton(this.#dictionary);
    const met = this.#nodes.prefix(state);
    let same = 0;
    for (let index = 0; index < met.length; index += 1) same = automaton.next(same, met.charCodeAt(index));
    automaton.#limit = Math.max(maxNodes, 2 * automaton.#nodes.size);
    return { automaton, state: same };
  }

  /** False: no needle begins there. */
  mayBegin(text: string, index: number): boolean {
    return this.#dictionary.starts[startBucket(text, index)] === 1;
  }

  next(state: number, code: number): number {
    const nodes = this.#nodes;
    for (let node = state; ; node = nodes.fail(node)) {
      const child = nodes.child(node, code);
      if (child > 0) return nodes.fail(child) === notYet ? this.#link(node, child, code) : child;
      if (node === 0) return 0;
    }
  }

  /** How many of the last characters may be the beginning of a needle. */
  depth(state: number): number {
    return this.#nodes.depth(state);
  }

  /** Length of the longest needle that ends here; 0 when none does. */
  longestEndingAt(state: number): number {
    return this.#nodes.longest(state);
  }

  /** Links a new prefix to its longest proper end that is a prefix too; that one to its own, until one is known. */
  #link(parent: number, child: number, code: number): number {
    const nodes = this.#nodes;
    const chain = [child];
    let known = 0;
    for (let node = parent; node !== 0 && known === 0; ) {
      node = nodes.fail(node);
      const shorter = nodes.child(node, code);
      if (shorter <= 0) continue;
      if (nodes.fail(shorter) === notYet) chain.push(shorter);
      else known = shorter;
    }
    for (let one = chain.pop(); one !== undefined; one = chain.pop()) {
      nodes.link(one, known);
      known = one;
    }
    return child;
  }
}

const startBucket = (text: string, index: number) =>
  bucketOf(text.charCodeAt(index), text.charCodeAt(index + 1), text.charCodeAt(index + 2));
