import type { Services } from "../../context/ctx.ts";
import { digest, toBase64 } from "../../core/ids.ts";
import { matchesEtag } from "../etag.ts";
import { router } from "../route.ts";
import { loadOnce } from "./shipped.ts";

/** Corrects Swagger UI's style sheet on the pages of `docsRoutes`. */
const docsStyle = `
html { background: #fff; --accent: #2450c4; --go: #14734a; --warn: #a8121f; --soft: #565c68; }
html.dark-mode { background: #1c2022; --accent: #9db8ff; }
body { margin: 0; }
noscript p { margin: 2rem auto; max-width: 40rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }

/* It takes the outlines of its controls away. */
.swagger-ui :focus-visible { outline: 3px solid var(--accent) !important; outline-offset: 1px; }

/* There is one server, and no operation has links. */
.swagger-ui .scheme-container .servers-title, .swagger-ui .scheme-container .servers,
.swagger-ui .response-col_links { display: none; }
.swagger-ui .scheme-container { padding: 20px 0; }
.swagger-ui .info { margin: 30px 0 20px; }
.swagger-ui .filter .operation-filter-input { box-sizing: border-box; max-width: none; }

/* Its light colours are too pale to read. */
.swagger-ui .opblock .opblock-summary-method { color: #080a0b; text-shadow: none; }
html:not(.dark-mode) .swagger-ui .info .title small { background: var(--soft); }
html:not(.dark-mode) .swagger-ui .info .title small.version-stamp { background: var(--go); }
html:not(.dark-mode) .swagger-ui :is(.info a, .info .link) { color: var(--accent); }
html:not(.dark-mode) .swagger-ui .btn.authorize { border-color: var(--go); color: var(--go); }
html:not(.dark-mode) .swagger-ui .btn.authorize svg { color: var(--go); fill: var(--go); }
html:not(.dark-mode) .swagger-ui .btn.execute { background: var(--accent); border-color: var(--accent); }
html:not(.dark-mode) .swagger-ui .btn.cancel { border-color: var(--warn); color: var(--warn); }
html:not(.dark-mode) .swagger-ui :is(.parameter__in, .parameter__extension) { color: var(--soft); }
html:not(.dark-mode) .swagger-ui .parameter__name.required:after,
html:not(.dark-mode) .swagger-ui .opblock-section-request-body .required { color: var(--warn); }

@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 12px; }
  .swagger-ui .opblock-description-wrapper, .swagger-ui .responses-inner { padding: 12px; }
  .swagger-ui table.responses-table :is(td, th) { padding-right: 0; }
}
`;

/** The page's files, by their names in Swagger UI's own package. */
const files = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
} as const;

/**
 * `/docs`: the API document as pages to read and try out. The content security policy allows only this server. If the
 * files beside the program are missing, the routes respond with 404.
 */
export function docsRoutes({ assets }: Services) {
  const routes = router();
  const loadFile = loadOnce(assets);
  const load = (name: string) => loadFile(`docs/${name}`);
  routes.get("/docs", async (c) => {
    const missing = (await Promise.all(Object.keys(files).map(load))).includes(null);
    if (missing) return c.notFound();
    c.header("Content-Security-Policy", await contentSecurityPolicy());
    c.header("Cache-Control", "no-cache");
    return c.html(page);
  });
  for (const [name, type] of Object.entries(files)) {
    routes.get(`/docs/${name}`, async (c) => {
      const asset = await load(name);
      if (!asset) return c.notFound();
      const headers = { ETag: asset.etag, "Cache-Control": "public, max-age=3600" };
      if (matchesEtag(c.req.header("If-None-Match"), asset.etag)) return c.body(null, 304, headers);
      return c.body(asset.bytes, 200, { ...headers, "Content-Type": type });
    });
  }
  return routes;
}

async function contentSecurityPolicy(): Promise<string> {
  return [
    "default-src 'none'",
    `script-src 'self' ${await hash(script)}`,
    `style-src 'self' ${await hash(docsStyle)}`,
    // The style sheet's icons are data URLs.
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const hash = async (source: string) => `'sha256-${toBase64(await digest(source))}'`;

// No other host is named: by default, Swagger UI would report every page view to its validator.
const script = `
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
paint();
dark.addEventListener("change", paint);
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#docs",
  validatorUrl: null,
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  syntaxHighlight: { theme: "obsidian" },
  persistAuthorization: false,
  defaultModelsExpandDepth: 0,
});
`;

// With relative addresses, so that a proxy may serve the pages under another path.
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Agent Engine API</title>
<link rel="icon" href="favicon.svg">
<link rel="stylesheet" href="docs/swagger-ui.css">
<style>${docsStyle}</style>
</head>
<body>
<div id="docs"></div>
<noscript><p>This page needs JavaScript. The same description, for programs: <a href="openapi.json">openapi.json</a>.</p></noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script>${script}</script>
</body>
</html>
`;
