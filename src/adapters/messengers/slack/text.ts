/**
 * A message's text as a person reads it: Slack writes mentions and links in `<…>` and escapes `&`, `<` and `>`
 * (https://docs.slack.dev/messaging/formatting-message-text). Removes mentions of `botId`.
 */
export function slackText(text: string, botId: string | null): string {
  const parts = text.split(/(<[^<>]*>)/);
  const read = parts.map((part, index) => (index % 2 === 1 ? spanText(part.slice(1, -1), botId) : unescaped(part)));
  return read.join("").replaceAll(/ {2,}/g, " ").trim();
}

function spanText(span: string, botId: string | null): string {
  const bar = span.indexOf("|");
  const target = bar < 0 ? span : span.slice(0, bar);
  const label = bar < 0 ? "" : unescaped(span.slice(bar + 1));
  const id = target.slice(1);
  if (target.startsWith("@")) return id === botId ? "" : `@${label || id}`;
  if (target.startsWith("#")) return `#${label || id}`;
  // Groups, dates and words such as `!here`.
  if (target.startsWith("!")) return label || `@${id.split("^")[0]}`;
  const address = unescaped(target);
  const bare = address.replace(/^(https?:\/\/|mailto:|tel:)/i, "");
  if (label === "" || label === address) return address.replace(/^mailto:/i, "");
  return label === bare ? bare : `${label} (${address})`;
}

const unescaped = (text: string) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
