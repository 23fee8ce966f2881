interface Node {
  children: Map<number, number>;
  /** The longest proper end of this prefix that is a prefix too. */
  fail: number;
  depth: number;
  /** Length of the longest needle that ends here; 0 when none does. */
  needle: number;
}

/**
 * Finds any of many texts in one pass, and knows at each character how much of one may have begun (Aho and Corasick,
 * "Efficient string matching", 1975). The state 0 is the beginning.
 */
export class Automaton {
  readonly #nodes: Node[] = [{ children: new Map(), fail: 0, depth: 0, needle: 0 }];

  constructor(needles: Iterable<string>) {
    for (const needle of needles) this.#add(needle);
    this.#link();
  }

  next(state: number, code: number): number {
    for (let node = this.#at(state); ; node = this.#at(node.fail)) {
      const child = node.children.get(code);
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

  #at(state: number): Node {
    const node = this.#nodes[state];
    if (!node) throw new Error("There is no such state");
    return node;
  }

  #add(needle: string): void {
    let state = 0;
    for (let index = 0; index < needle.length; index += 1) {
      const { children, depth } = this.#at(state);
      const code = needle.charCodeAt(index);
      let child = children.get(code);
      if (child === undefined) {
        child = this.#nodes.push({ children: new Map(), fail: 0, depth: depth + 1, needle: 0 }) - 1;
        children.set(code, child);
      }
      state = child;
    }
    this.#at(state).needle = needle.length;
  }

  /** Breadth first, so that shorter prefixes are linked before those that lead to them. */
  #link(): void {
    const queue = [...this.#at(0).children.values()];
    for (const state of queue) {
      const node = this.#at(state);
      for (const [code, child] of node.children) {
        const target = this.#at(child);
        target.fail = this.next(node.fail, code);
        target.needle = Math.max(target.needle, this.#at(target.fail).needle);
        queue.push(child);
      }
    }
  }
}
