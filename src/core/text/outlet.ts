/** Receives the text of a response for its client. */
export interface Outlet {
  /** Sends a text, after each `pull`. */
  enqueue(text: string): void;
  /** Ends the response. */
  close(): void;
  /** Disconnects the client. */
  error(reason: Error): void;
}

/** The writer of a response, for its outlet. */
export interface TextSource {
  /** Called when there is room for more text, possibly within `enqueue`. */
  pull(): void;
  /** Called when the client has left. */
  cancel(): void;
}

type Take = (outlet: Outlet) => TextSource;

const offers = new WeakMap<Response, Take>();

/**
 * Lets a runtime write the text of a response itself instead of reading the response's body. Optional, since the body
 * has the same text; but each piece of a body costs a copy, a read and some promises more.
 */
export function offerText(response: Response, take: Take): void {
  offers.set(response, take);
}

/** The text offered for a response; null when its body has to be read. */
export function offeredText(response: Response): Take | null {
  return offers.get(response) ?? null;
}
