/** Thrown by a job that has to wait: this attempt does not count. */
export class Postponed extends Error {
  /** In milliseconds since the epoch. */
  readonly until: number;

  constructor(message: string, until: number) {
    super(message);
    this.until = until;
  }
}
