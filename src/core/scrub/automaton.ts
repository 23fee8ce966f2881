import { Nodes, notYet } from "./automaton-nodes.ts";

/** The number of buckets for needles' first three characters; hundreds of needles leave most of them empty. */
const buckets = 1 << 14;
const bucketOf = (first: number, second: number, third: number) =>
  ((first * 961 + second * 31 + third) * 0x9e3779b1) >>> 18;

/** This many nodes take about 14 MB. */
const maxNodes = 1 << 19;

interface Dictionary {
  /** Sorted, so that needles with a common prefix are neighbours. */
  needles: readonly string[];
  /** 1 for each bucket of a needle's first characters. */
  starts: Uint8Array;
}

/**
 * Finds many needles in one pass over a text, and knows at each character how many of the last characters may begin a
 * needle (Aho and Corasick, "Efficient string matching", 1975). State 0 is the start. A state is made when a text first
 * reaches it, so that a long needle costs nothing until a text shares its beginning; needles with a common prefix share
 * states.
 */
export class Automaton {
  readonly #dictionary: Dictionary;
  readonly #nodes: Nodes;
  #limit = maxNodes;

  /** Each needle must have at least three characters. */
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

  /** Whether there are so many states that the caller should go on with a `renewed` automaton. */
  get full(): boolean {
    return this.#nodes.size > this.#limit;
  }

  /** An automaton for the same needles without the states made by other texts, and its equivalent of `state`. */
  renewed(state: number): { automaton: Automaton; state: number } {
    const automaton = new Automaton(this.#dictionary);
    const met = this.#nodes.prefix(state);
    let same = 0;
    for (let index = 0; index < met.length; index += 1) same = automaton.next(same, met.charCodeAt(index));
    automaton.#limit = Math.max(maxNodes, 2 * automaton.#nodes.size);
    return { automaton, state: same };
  }

  /** False when no needle begins at this index of the text. */
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

  /** How many of the last characters may begin a needle. */
  depth(state: number): number {
    return this.#nodes.depth(state);
  }

  /** The length of the longest needle that ends at this state; 0 for none. */
  longestEndingAt(state: number): number {
    return this.#nodes.longest(state);
  }

  /** Links a new node to its `fail` node, after linking that one to its own, and so on up to a node that is linked. */
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
