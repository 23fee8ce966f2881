import { knownStart, LongNeedles } from "./long-needles.ts";

interface Node {
  /** Null while it has none: most needles share only their first characters, and a map for each would be heavy. */
  children: Map<number, number> | null;
  /** The longest proper end of this prefix that is a prefix too. */
  fail: number;
  depth: number;
  /** Length of the longest needle that ends here; 0 when none does. */
  needle: number;
  /** Those needles of which only this start is in the automaton. */
  long: LongNeedles | null;
}

const newNode = (depth: number): Node => ({ children: null, fail: 0, depth, needle: 0, long: null });

/** Buckets for the first three characters of the needles; enough that hundreds of needles leave most of them empty. */
const buckets = 1 << 14;
const bucketOf = (first: number, second: number, third: number) =>
  ((first * 961 + second * 31 + third) * 0x9e3779b1) >>> 18;

/**
 * Finds any of many texts in one pass, and knows at each character how much of one may have begun (Aho and Corasick,
 * "Efficient string matching", 1975). The state 0 is the beginning. Of long needles it knows the start only.
 */
export class Automaton {
  readonly #nodes: Node[] = [newNode(0)];
  readonly #starts = new Uint8Array(buckets);

  /** Of at least three characters each. */
  constructor(needles: Iterable<string>) {
    for (const needle of needles) this.#add(needle);
    this.#link();
  }

  /** False: no needle begins there. */
  mayBegin(text: string, index: number): boolean {
    return this.#starts[startBucket(text, index)] === 1;
  }

  next(state: number, code: number): number {
    for (let node = this.#at(state); ; node = this.#at(node.fail)) {
      const child = node.children?.get(code);
      if (child !== undefined) return child;
      if (node.depth === 0) return 0;
    }
  }

  /** How many of the last characters may be the beginning of a needle. */
  depth(state: number): number {
    return this.#at(state).depth;
  }

  longestEndingAt(state: number): number {
    return this.#at(state).needle;
  }

  /** The needles whose start ends here, if there are any. */
  longAt(state: number): LongNeedles | null {
    return this.#at(state).long;
  }

  #at(state: number): Node {
    const node = this.#nodes[state];
    if (!node) throw new Error("There is no such state");
    return node;
  }

  #add(needle: string): void {
    this.#starts[startBucket(needle, 0)] = 1;
    let state = 0;
    for (let index = 0; index < Math.min(needle.length, knownStart); index += 1) {
      state = this.#child(state, needle.charCodeAt(index));
    }
    const node = this.#at(state);
    if (needle.length <= knownStart) {
      node.needle = needle.length;
    } else {
      node.long ??= new LongNeedles();
      node.long.add(needle);
    }
  }

  #child(state: number, code: number): number {
    const node = this.#at(state);
    node.children ??= new Map();
    let child = node.children.get(code);
    if (child === undefined) {
      child = this.#nodes.push(newNode(node.depth + 1)) - 1;
      node.children.set(code, child);
    }
    return child;
  }

  /** Breadth first, so that shorter prefixes are linked before those that lead to them. */
  #link(): void {
    const queue = [...(this.#at(0).children?.values() ?? [])];
    for (const state of queue) {
      const node = this.#at(state);
      for (const [code, child] of node.children ?? []) {
        const target = this.#at(child);
        target.fail = this.next(node.fail, code);
        target.needle = Math.max(target.needle, this.#at(target.fail).needle);
        queue.push(child);
      }
    }
  }
}

const startBucket = (text: string, index: number) =>
  bucketOf(text.charCodeAt(index), text.charCodeAt(index + 1), text.charCodeAt(index + 2));
