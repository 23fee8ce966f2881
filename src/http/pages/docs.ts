import type { Services } from "../../context/ctx.ts";
import { digest, toBase64 } from "../../core/ids.ts";
import { matchesEtag } from "../etag.ts";
import { router } from "../route.ts";
import { docsStyle } from "./docs-style.ts";
import { loadOnce } from "./shipped.ts";

/** The page's files, by their names in Swagger UI's own package. */
const files = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
} as const;

/**
 * `/docs`: the API document as pages to read and try out. The content security policy allows this server only. Without
 * the files shipped beside the program the routes respond with 404.
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

// Names no other host: by default Swagger UI would report every page view to its validator.
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

// The addresses are relative, so that a proxy may serve the pages under another path.
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
