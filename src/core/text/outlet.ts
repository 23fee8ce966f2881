/** Takes the text of a response to its client. */
export interface Outlet {
  /** Takes a text after each `pull`. */
  enqueue(text: string): void;
  /** Ends the response. */
  close(): void;
  /** Cuts the client off. */
  error(reason: Error): void;
}

/** The writer of a response, as its outlet sees it. */
export interface TextSource {
  /** There is room for more text; may be called within `enqueue`. */
  pull(): void;
  /** The client is gone. */
  cancel(): void;
}

type Take = (outlet: Outlet) => TextSource;

const offers = new WeakMap<Response, Take>();

/**
 * Lets a runtime write the text of a response itself in place of reading the response's body. It need not, since the
 * body says the same; but each piece of a body costs a copy, a read and some promises more.
 */
export function offerText(response: Response, take: Take): void {
  offers.set(response, take);
}

/** Answers null for a response whose body has to be read. */
export function offeredText(response: Response): Take | null {
  return offers.get(response) ?? null;
}
