/** Text in which no messenger finds tags or mentions; Telegram's and Slack's rule are the same. */
export const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
