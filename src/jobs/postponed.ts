/** Thrown by a job that can't be done before a time, through no fault of its own: this attempt does not count. */
export class Postponed extends Error {
  /** In milliseconds since the epoch. */
  readonly until: number;

  constructor(message: string, until: number) {
    super(message);
    this.until = until;
  }
}
