/** Names headings for links, as GitHub does. */
export class Anchors {
  readonly #taken = new Map<string, number>();

  of(title: string): string {
    const name = title
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    const times = this.#taken.get(name) ?? 0;
    this.#taken.set(name, times + 1);
    return times === 0 ? name : `${name}-${times}`;
  }
}
