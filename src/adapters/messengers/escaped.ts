/** Escapes tags and mentions in a text, by the rule that Telegram and Slack share. */
export const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
