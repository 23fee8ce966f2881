import { escaped, type Markup, render } from "./markup.ts";

/** Slack's `mrkdwn` (https://docs.slack.dev/messaging/formatting-message-text). */
const mrkdwn: Markup = {
  text: escaped,
  strong: (inner) => `*${inner}*`,
  emphasis: (inner) => `_${inner}_`,
  deleted: (inner) => `~${inner}~`,
  code: (text) => `\`${escaped(text)}\``,
  pre: (text) => `\`\`\`\n${escaped(text)}\n\`\`\``,
  link: (label, address) => `<${escaped(address).replaceAll("|", "%7C")}|${label.replaceAll("|", "¦")}>`,
  quote: (inner) => inner.replaceAll(/^/gm, "> "),
};

/** Markdown as Slack's `mrkdwn`. Throws where `render` does. */
export const slackMrkdwn = (markdown: string): string => render(markdown, mrkdwn);
