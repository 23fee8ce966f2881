import { type Markup, markLines, render, withoutBackticks } from "../markup.ts";
import { escaped } from "../rendered.ts";

/** An invisible character. For Slack, a word ends there. */
const zeroWidthSpace = "\u200b";

/** Slack's `mrkdwn` (https://docs.slack.dev/messaging/formatting-message-text). */
const mrkdwn: Markup = {
  text: escaped,
  strong: (inner) => markLines("*", inner),
  emphasis: (inner) => markLines("_", inner),
  deleted: (inner) => markLines("~", inner),
  code: (text) => `\`${escaped(withoutBackticks(text))}\``,
  pre: (text) => `\`\`\`\n${escaped(text.replaceAll("```", "ˋˋˋ"))}\n\`\`\``,
  link: (label, address) =>
    `<${escaped(address).replaceAll("|", "%7C")}|${label.replaceAll("|", "¦").replaceAll("\n", " ")}>`,
  quote: (inner) => inner.replaceAll(/^/gm, "> "),
  marksLabels: false,
  joint: zeroWidthSpace,
};

/** Markdown as Slack's `mrkdwn`. Throws where `render` does. */
export const slackMrkdwn = (markdown: string): string => render(markdown, mrkdwn);
