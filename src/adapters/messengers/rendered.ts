/**
 * Renders Markdown for a messenger; null when it can't be rendered, or the result is empty. The renderer is loaded when
 * needed, since most servers have no messenger.
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

/** Escapes tags and mentions in a text, by the rule that Telegram and Slack share. */
export const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
