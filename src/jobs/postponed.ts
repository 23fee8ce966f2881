/** Thrown by a job that has to wait. The attempt is not counted. */
export class Postponed extends Error {
  /** In milliseconds since the epoch. */
  readonly until: number;

  constructor(message: string, until: number) {
    super(message);
    this.until = until;
  }
}
