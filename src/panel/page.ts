import { digest, toBase64 } from "../core/ids.ts";

export interface Page {
  html: string;
  /** Allows only the script and the style of this page, by their hashes. */
  contentSecurityPolicy: string;
}

interface Content {
  title: string;
  /** Trusted HTML; whoever puts a value into it escapes that. */
  main: string;
  /** Whether the page has commands to copy, which want long lines. */
  wide?: boolean;
  /** Runs at the end of the page, and may call this server. */
  script?: string;
}

/** A page of this server for people. Its addresses are relative, so that a proxy may serve it under a path of its own. */
export async function htmlPage({ title, main, wide = false, script }: Content): Promise<Page> {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="favicon.svg">
<style>${style}</style>
</head>
<body>
<main${wide ? ' class="wide"' : ""}>
${main}
</main>
${script === undefined ? "" : `<script>${script}</script>`}
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `style-src '${await hash(style)}'`,
    "img-src 'self'",
    ...(script === undefined ? [] : [`script-src '${await hash(script)}'`, "connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { html, contentSecurityPolicy: policy.join("; ") };
}

const hash = async (source: string) => `sha256-${toBase64(await digest(source))}`;

/** Text for an attribute in double quotes, or between tags. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** The picture of this server's pages in a browser's tabs. */
export const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#2450c4"/>
<path d="M8 10.5A2.5 2.5 0 0 1 10.5 8h11a2.5 2.5 0 0 1 2.5 2.5v7a2.5 2.5 0 0 1-2.5 2.5H15l-4.5 4v-4A2.5 2.5 0 0 1 8 17.5z" fill="#fff"/>
</svg>
`;

const style = `
:root { color-scheme: light dark; --ink: #1b1d22; --soft: #565c68; --paper: #ffffff; --field: #ffffff; --line: #80869a;
  --accent: #2450c4; --on-accent: #ffffff; --error: #a8121f; --code: #eef0f4; }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef2; --soft: #a9b0bd; --paper: #14161a; --field: #1d2026;
  --line: #7d8496; --accent: #9db8ff; --on-accent: #10131a; --error: #ff9b9b; --code: #22262e; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 28rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
main.wide { max-width: 46rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; }
h1:focus { outline: none; }
ul { padding-left: 1.25rem; margin: 0; }
li { margin-bottom: .6rem; }
li code { white-space: nowrap; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
label { display: block; margin-top: 1rem; font-weight: 600; }
.hint { color: var(--soft); font-size: .875rem; font-weight: 400; margin: .25rem 0 0; }
input { width: 100%; margin-top: .25rem; padding: .6rem .7rem; font: inherit; color: inherit; background: var(--field);
  border: 1px solid var(--line); border-radius: .4rem; }
button { width: 100%; margin-top: 1.75rem; padding: .7rem; font: inherit; font-weight: 600; color: var(--on-accent);
  background: var(--accent); border: 0; border-radius: .4rem; cursor: pointer; }
button:disabled { opacity: .6; cursor: progress; }
:is(input, button, a, pre, .error):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
.after { margin-top: 1.25rem; }
.error { color: var(--error); font-weight: 600; }
[hidden] { display: none; }
pre { overflow-x: auto; padding: .8rem; background: var(--code); border-radius: .4rem; font-size: .875rem; }
pre code { white-space: pre-wrap; overflow-wrap: anywhere; }
.wide pre code { white-space: pre; }
`;
