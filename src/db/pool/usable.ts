import { isBroken, isReadOnly, isUnable } from "./failures.ts";

const writes = /\b(?:insert into|update|delete from)\b/i;

/** Whether the last statements reached a database that answers and takes writes. */
export class Usable {
  #away = false;
  #readOnly = false;

  get value(): boolean {
    return !this.#away && !this.#readOnly;
  }

  /** Notes an answered statement. An answered read does not show that writes work. */
  worked(text: string): void {
    this.#away = false;
    if (this.#readOnly && writes.test(text)) this.#readOnly = false;
  }

  failed(error: unknown): void {
    if (isReadOnly(error)) this.#readOnly = true;
    else if (isBroken(error) || isUnable(error)) this.#away = true;
    else this.#away = false;
  }

  /** Notes that the server does not answer. */
  silent(): void {
    this.#away = true;
  }
}
