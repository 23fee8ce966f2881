import { failureCode, isBroken, isUnable } from "./failures.ts";

/** The SQLSTATE of a server that takes no writes, such as one that is the primary no more. */
const readOnly = "25006";

const writes = /\b(?:insert into|update|delete from)\b/i;

/** The state that the last statements met: a database that answers and takes writes, or none. */
export class Usable {
  #away = false;
  #readOnly = false;

  get value(): boolean {
    return !this.#away && !this.#readOnly;
  }

  /** A statement was answered. One that only reads tells nothing about writes. */
  worked(text: string): void {
    this.#away = false;
    if (this.#readOnly && writes.test(text)) this.#readOnly = false;
  }

  failed(error: unknown): void {
    if (failureCode(error) === readOnly) this.#readOnly = true;
    else if (isBroken(error) || isUnable(error)) this.#away = true;
    else this.#away = false;
  }

  /** The server does not answer. */
  silent(): void {
    this.#away = true;
  }
}
