import type { Token, Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { readMarkdown } from "../../markdown/read.ts";
import { Code } from "../ui/text/code.tsx";

/**
 * Renders a model's Markdown as elements, never as HTML: tags in it stay text. An image becomes a link: to load it
 * would tell another server, at an address that the model chose, about the reader. Each text is parsed once, so that a
 * new word of one reply does not parse all earlier replies again.
 */
export const Markdown = memo(({ text }: { text: string }) => <div class="prose">{blocks(readMarkdown(text))}</div>);

const blocks = (tokens: readonly Token[]): ComponentChildren => tokens.map((token, key) => block(token, key));

function block(token: Token, key: number): ComponentChildren {
  switch (token.type) {
    case "heading":
      // Headings are below the title of the page, whatever level the model chose.
      return <h2 key={key}>{inlines(token.tokens)}</h2>;
    case "paragraph":
      return <p key={key}>{inlines(token.tokens)}</p>;
    case "text":
      return <span key={key}>{token.tokens ? inlines(token.tokens) : plain(token.text)}</span>;
    case "code":
      return <Code key={key} label={token.lang ? `Code in ${token.lang}` : "Code"} text={token.text} />;
    case "blockquote":
      return <blockquote key={key}>{blocks(token.tokens ?? [])}</blockquote>;
    case "list":
      return list(token as Tokens.List, key);
    case "table":
      return table(token as Tokens.Table, key);
    case "hr":
      return <hr key={key} />;
    case "space":
    case "def":
      return null;
    default:
      return <p key={key}>{token.raw}</p>;
  }
}

function list({ ordered, start, items }: Tokens.List, key: number): ComponentChildren {
  const entries = items.map((item, index) => (
    <li key={index}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label="Done" />}
      {blocks(item.tokens.filter(({ type }) => type !== "checkbox"))}
    </li>
  ));
  return ordered ? (
    <ol key={key} start={start === "" ? 1 : start}>
      {entries}
    </ol>
  ) : (
    <ul key={key}>{entries}</ul>
  );
}

const table = ({ header, rows }: Tokens.Table, key: number): ComponentChildren => (
  <div key={key} class="table-frame">
    <table class="table">
      <thead>
        <tr>
          {header.map(({ tokens }, index) => (
            <th key={index}>{inlines(tokens)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, number) => (
          <tr key={number}>
            {row.map(({ tokens }, index) => (
              <td key={index}>{inlines(tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const inlines = (tokens: readonly Token[] = []): ComponentChildren => tokens.map((token, key) => inline(token, key));

function inline(token: Token, key: number): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong key={key}>{inlines(token.tokens)}</strong>;
    case "em":
      return <em key={key}>{inlines(token.tokens)}</em>;
    case "del":
      return <del key={key}>{inlines(token.tokens)}</del>;
    case "codespan":
      return <code key={key}>{plain(token.text)}</code>;
    case "br":
      return <br key={key} />;
    case "link":
      return link(token.href, inlines(token.tokens), key);
    case "image":
      return link(token.href, `Image: ${token.text || token.href}`, key);
    case "text":
      return token.tokens ? inlines(token.tokens) : plain(token.text);
    case "escape":
      return plain(token.text);
    default:
      return token.raw;
  }
}

function link(href: string, children: ComponentChildren, key: number): ComponentChildren {
  const address = URL.parse(href);
  if (!address || !["http:", "https:", "mailto:"].includes(address.protocol)) return <span key={key}>{children}</span>;
  return (
    <a key={key} href={address.href} target="_blank" rel="noopener noreferrer nofollow" title={address.href}>
      {children}
    </a>
  );
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** The lexer escapes some texts for HTML. */
const plain = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (all, name) => entities[name] ?? all);
