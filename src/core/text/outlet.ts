/** Receives the text of a response for its client. */
export interface Outlet {
  /** Sends a text. Call it after each `pull`. */
  enqueue(text: string): void;
  /** Ends the response. */
  close(): void;
  /** Disconnects the client. */
  error(reason: Error): void;
}

/** The writer of a response, for its outlet. */
export interface TextSource {
  /** Called when there is room for more text, perhaps while `enqueue` runs. */
  pull(): void;
  /** Called when the client has disconnected. */
  cancel(): void;
}

type Take = (outlet: Outlet) => TextSource;

const offers = new WeakMap<Response, Take>();

/**
 * Lets a runtime write the text of a response itself instead of reading the response's body. This is optional, since
 * the body contains the same text; but for each piece, reading a body costs a copy, a read and some promises more.
 */
export function offerText(response: Response, take: Take): void {
  offers.set(response, take);
}

/** The text that is offered for a response; null when its body must be read. */
export function offeredText(response: Response): Take | null {
  return offers.get(response) ?? null;
}
