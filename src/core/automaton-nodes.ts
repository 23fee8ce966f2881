/** In place of a node that was not made yet. */
export const notYet = -1;

const firstSize = 256;

/** What a prefix goes on with. */
const [ends, branches] = [-1, -2];

/**
 * The prefixes of sorted needles, as a tree whose nodes are made when they are asked for; 0 is the root. Each column
 * has a number for each node.
 */
export class Nodes {
  readonly #needles: readonly string[];
  #size = 0;
  /** The needles with this prefix are those from `from` to before `to`. */
  #from = new Int32Array(firstSize);
  #to = new Int32Array(firstSize);
  #depth = new Int32Array(firstSize);
  #fail = new Int32Array(firstSize);
  #longest = new Int32Array(firstSize);
  /** The only character that follows, or `ends`, or `branches`. */
  #code = new Int32Array(firstSize);
  /** The node behind that character. */
  #child = new Int32Array(firstSize);
  /** Where several characters follow. */
  readonly #children = new Map<number, Map<number, number>>();

  constructor(needles: readonly string[]) {
    this.#needles = needles;
    this.link(this.#make(0, needles.length, 0), 0);
  }

  get size(): number {
    return this.#size;
  }

  depth(node: number): number {
    return this.#depth[node] ?? 0;
  }

  /** The longest proper end of this prefix that is a prefix too. */
  fail(node: number): number {
    return this.#fail[node] ?? 0;
  }

  /** Length of the longest needle that ends here; 0 when none does. */
  longest(node: number): number {
    return this.#longest[node] ?? 0;
  }

  prefix(node: number): string {
    return this.#needle(this.#from[node] ?? 0).slice(0, this.depth(node));
  }

  /** The node behind this character, made if need be; 0 when no needle goes on with it. */
  child(node: number, code: number): number {
    const only = this.#code[node];
    if (only === code) return this.#only(node);
    return only === branches ? (this.#branchesOf(node).get(code) ?? 0) : 0;
  }

  /** `target` is linked already. */
  link(node: number, target: number): void {
    this.#fail[node] = target;
    if (this.longest(node) === 0) this.#longest[node] = this.longest(target);
  }

  #only(node: number): number {
    const known = this.#child[node] ?? notYet;
    if (known !== notYet) return known;
    const child = this.#make(this.#behind(node), this.#to[node] ?? 0, this.depth(node) + 1);
    this.#child[node] = child;
    return child;
  }

  #branchesOf(node: number): Map<number, number> {
    const known = this.#children.get(node);
    if (known) return known;
    const made = new Map<number, number>();
    const [depth, to] = [this.depth(node), this.#to[node] ?? 0];
    for (let from = this.#behind(node); from < to; ) {
      const code = this.#codeAt(from, depth);
      const end = this.#endOf(code, from, to, depth);
      made.set(code, this.#make(from, end, depth + 1));
      from = end;
    }
    this.#children.set(node, made);
    return made;
  }

  /** Where those needles end that go on with this character. */
  #endOf(code: number, from: number, to: number, depth: number): number {
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#codeAt(middle, depth) === code) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #make(from: number, to: number, depth: number): number {
    const node = this.#size;
    if (node === this.#depth.length) this.#grow();
    this.#size += 1;
    this.#from[node] = from;
    this.#to[node] = to;
    this.#depth[node] = depth;
    this.#fail[node] = notYet;
    this.#longest[node] = this.#endsAt(from, depth) ? depth : 0;
    this.#code[node] = this.#following(node);
    this.#child[node] = notYet;
    return node;
  }

  #following(node: number): number {
    const [first, depth] = [this.#behind(node), this.depth(node)];
    const last = (this.#to[node] ?? 0) - 1;
    if (first > last) return ends;
    const code = this.#codeAt(first, depth);
    return code === this.#codeAt(last, depth) ? code : branches;
  }

  /** The first needle that is longer than the prefix; one that is the prefix sorts before them. */
  #behind(node: number): number {
    const from = this.#from[node] ?? 0;
    return this.#endsAt(from, this.depth(node)) ? from + 1 : from;
  }

  #endsAt(needle: number, depth: number): boolean {
    return this.#needle(needle).length === depth;
  }

  #codeAt(needle: number, depth: number): number {
    return this.#needle(needle).charCodeAt(depth);
  }

  #needle(index: number): string {
    return this.#needles[index] ?? "";
  }

  #grow(): void {
    this.#from = doubled(this.#from);
    this.#to = doubled(this.#to);
    this.#depth = doubled(this.#depth);
    this.#fail = doubled(this.#fail);
    this.#longest = doubled(this.#longest);
    this.#code = doubled(this.#code);
    this.#child = doubled(this.#child);
  }
}

function doubled(column: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * column.length);
  larger.set(column);
  return larger;
}
