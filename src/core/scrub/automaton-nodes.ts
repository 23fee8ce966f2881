/** Stands for a node that was not made yet. */
export const notYet = -1;

const firstSize = 256;

/** Special values of `#code`: no needle continues the prefix; several characters continue it. */
const [ends, branches] = [-1, -2];

/**
 * The prefixes of sorted needles, as a tree. `child` makes a node when it is first used; node 0 is the root. Each
 * column has one number for each node.
 */
export class Nodes {
  readonly #needles: readonly string[];
  #size = 0;
  /** The needles with this prefix have the indexes from `#from` to just before `#to`. */
  #from = new Int32Array(firstSize);
  #to = new Int32Array(firstSize);
  #depth = new Int32Array(firstSize);
  #fail = new Int32Array(firstSize);
  #longest = new Int32Array(firstSize);
  /** The only character that continues the prefix, or `ends`, or `branches`. */
  #code = new Int32Array(firstSize);
  /** The child node for that character. */
  #child = new Int32Array(firstSize);
  /** The children of each node whose `#code` is `branches`, by character. */
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

  /** The node of the longest proper suffix of this prefix that is a prefix of a needle. */
  fail(node: number): number {
    return this.#fail[node] ?? 0;
  }

  /** The length of the longest needle that is a suffix of this prefix; 0 for none. */
  longest(node: number): number {
    return this.#longest[node] ?? 0;
  }

  prefix(node: number): string {
    return this.#needle(this.#from[node] ?? 0).slice(0, this.depth(node));
  }

  /** The child for this character, made if missing; 0 when no needle continues the prefix with it. */
  child(node: number, code: number): number {
    const only = this.#code[node];
    if (only === code) return this.#only(node);
    return only === branches ? (this.#branchesOf(node).get(code) ?? 0) : 0;
  }

  /** Makes `target` the `fail` node of `node`. `target` must be linked already, since its `longest` may be copied. */
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

  /** The index after the last needle in which this character comes next. */
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

  /** The index of the first needle that is longer than the prefix. A needle that equals the prefix is sorted before it. */
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
