import { type Markup, markLines, render, withoutBackticks } from "../markup.ts";

/** WhatsApp's own marks, which have no escapes (https://faq.whatsapp.com/539178204879377). */
const marks: Markup = {
  text: (text) => text,
  strong: (inner) => markLines("*", inner),
  emphasis: (inner) => markLines("_", inner),
  deleted: (inner) => markLines("~", inner),
  code: (text) => `\`${withoutBackticks(text)}\``,
  pre: (text) => `\`\`\`${text.replaceAll("```", "ˋˋˋ")}\`\`\``,
  link: (label, address) => `${label} (${address})`,
  quote: (inner) => inner.replaceAll(/^/gm, "> "),
  marksLabels: true,
  joint: "\u200b",
};

/** Markdown with WhatsApp's marks. Throws where `render` does. */
export const whatsAppText = (markdown: string): string => render(markdown, marks);
