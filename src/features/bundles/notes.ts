import type { ImportNotes, ImportWarning, ImportWarningType } from "../../core/bundle.ts";

/** The warnings of an import. */
export class Notes implements ImportNotes {
  readonly warnings: ImportWarning[] = [];
  #ofReading = 0;
  #isRead = false;
  #dueAt: number[] = [];

  warn(type: ImportWarningType, path: readonly (string | number)[], message: string): void {
    this.warnings.push({ type, message, path: path.join(".") });
  }

  due(at: Date | null): void {
    if (at) this.#dueAt.push(at.getTime());
  }

  /** Called where the transaction begins, which may be repeated: forgets what an earlier attempt noted. */
  restart(): void {
    if (!this.#isRead) this.#ofReading = this.warnings.length;
    this.#isRead = true;
    this.warnings.length = this.#ofReading;
    this.#dueAt = [];
  }

  /** Called after the commit: has the work begun that the import left. */
  finish(wake: (at?: number) => void): void {
    wake();
    for (const at of this.#dueAt) wake(at);
  }
}
