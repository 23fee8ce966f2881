/** The bytes of a body, one piece after the other. Its `cancel` lets go of the sender and ends a read that waits. */
export interface Bytes {
  read(): Promise<IteratorResult<Uint8Array, unknown>>;
  cancel(): Promise<void>;
}

/** The first `longest` characters of a body, as text. The rest is not read. */
export async function readExcerpt(body: Bytes | null | undefined, longest: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  while (body && text.length < longest) {
    const { done, value } = await body.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  // Not awaited: an outside party may never answer the cancel.
  body?.cancel().catch(() => {});
  return text.slice(0, longest).toWellFormed();
}
