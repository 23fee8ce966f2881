/**
 * Markdown as a messenger shows it; null where it can't be rendered, or nothing would be left of it. What renders it is
 * loaded when it is needed: most servers have no messenger.
 */
export async function rendered(
  load: () => Promise<(markdown: string) => string>,
  markdown: string,
): Promise<string | null> {
  const render = await load();
  try {
    const text = render(markdown);
    return text.trim() === "" ? null : text;
  } catch {
    return null;
  }
}
