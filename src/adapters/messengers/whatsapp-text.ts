import { type Markup, render } from "./markup.ts";

/** WhatsApp's own marks, which have no escapes (https://faq.whatsapp.com/539178204879377). */
const marks: Markup = {
  text: (text) => text,
  strong: (inner) => `*${inner}*`,
  emphasis: (inner) => `_${inner}_`,
  deleted: (inner) => `~${inner}~`,
  code: (text) => `\`${text}\``,
  pre: (text) => `\`\`\`${text}\`\`\``,
  link: (label, address) => `${label} (${address})`,
  quote: (inner) => inner.replaceAll(/^/gm, "> "),
};

/** Markdown with WhatsApp's marks. Throws where `render` does. */
export const whatsAppText = (markdown: string): string => render(markdown, marks);
