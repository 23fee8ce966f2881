/** Markdown as a messenger shows it; null where it can't be rendered, or nothing would be left of it. */
export function rendered(render: (markdown: string) => string, markdown: string): string | null {
  try {
    const text = render(markdown);
    return text.trim() === "" ? null : text;
  } catch {
    return null;
  }
}
