/** A body's bytes, piece by piece. `cancel` stops the sender and ends a waiting read. */
export interface Bytes {
  read(): Promise<IteratorResult<Uint8Array, unknown>>;
  cancel(): Promise<void>;
}

/** Reads the first `longest` characters of a body, as text. */
export async function readExcerpt(body: Bytes | null | undefined, longest: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  while (body && text.length < longest) {
    const { done, value } = await body.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  // Not awaited, since the sender may never settle the cancel.
  body?.cancel().catch(() => {});
  return text.slice(0, longest).toWellFormed();
}
