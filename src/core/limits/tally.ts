/** Counts something by owner, such as running work or bytes, with a total. Owners with a count of 0 take no memory. */
export class Tally {
  readonly #counts = new Map<string | undefined, number>();
  #sum = 0;

  /** The count of all owners. */
  get sum(): number {
    return this.#sum;
  }

  of(owner: string | undefined): number {
    return this.#counts.get(owner) ?? 0;
  }

  add(owner: string | undefined, change: number): void {
    const count = this.of(owner) + change;
    this.#sum += change;
    if (count === 0) this.#counts.delete(owner);
    else this.#counts.set(owner, count);
  }
}
