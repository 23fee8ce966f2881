/** The first `longest` characters of a body, as text. The rest is not read. */
export async function readExcerpt({ body }: Response, longest: number): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (reader && text.length < longest) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  // Not awaited: an outside party may never answer the cancel.
  reader?.cancel().catch(() => {});
  return text.slice(0, longest).toWellFormed();
}
