import { type Markup, render } from "../markup.ts";
import { escaped } from "../rendered.ts";

const attribute = (text: string) => escaped(text).replaceAll('"', "&quot;");

/** The HTML of `parse_mode: "HTML"` (https://core.telegram.org/bots/api#html-style). */
const html: Markup = {
  text: escaped,
  strong: (inner) => `<b>${inner}</b>`,
  emphasis: (inner) => `<i>${inner}</i>`,
  deleted: (inner) => `<s>${inner}</s>`,
  code: (text) => `<code>${escaped(text)}</code>`,
  pre: (text, language) =>
    language === ""
      ? `<pre>${escaped(text)}</pre>`
      : `<pre><code class="language-${attribute(language)}">${escaped(text)}</code></pre>`,
  link: (label, address) => `<a href="${attribute(address)}">${label}</a>`,
  quote: (inner) => `<blockquote>${inner}</blockquote>`,
  marksLabels: true,
  joint: "",
};

/** Markdown as Telegram's HTML. Throws where `render` does. */
export const telegramHtml = (markdown: string): string => render(markdown, html);
