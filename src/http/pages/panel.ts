import type { Context } from "hono";
import type { Services } from "../../context/ctx.ts";
import { notFound } from "../../core/errors.ts";
import type { AppEnv } from "../environment.ts";
import { matchesEtag } from "../etag.ts";
import { router } from "../route.ts";
import { loadOnce } from "./shipped.ts";

/** Names of built files, which contain a hash of the content; other names are refused. */
const fileName = /^[a-z][a-z-]{0,63}-[A-Z0-9]{8}\.(js|css)$/;

const types = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" } as const;

/** Allows only scripts and styles in files of this server, none of them inline, and nothing from other hosts. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/**
 * The admin panel: one page at `/`, at the setup link and at links to reset a password, with its files. If the files
 * beside the program are missing, the routes respond with 404.
 */
export function panelRoutes({ assets, options }: Pick<Services, "assets" | "options">) {
  const load = loadOnce(assets);
  const page = (caching: "no-cache" | "no-store") => async (c: Context<AppEnv>) => {
    const file = await load("panel/index.html");
    if (!file) throw notFound("File");
    return c.body(file.bytes, 200, {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": contentSecurityPolicy,
      "Cache-Control": caching,
    });
  };
  const routes = router()
    .get("/", page("no-cache"))
    // Not stored, since the address contains the token of the setup link.
    .get("/setup", page("no-store"))
    .get("/panel/:file", async (c) => {
      const name = c.req.param("file");
      const [, ending] = fileName.exec(name) ?? [];
      if (ending !== "js" && ending !== "css") throw notFound("File");
      const brotli = /\bbr\b/.test(c.req.header("Accept-Encoding") ?? "");
      const file = await load(`panel/${name}${brotli ? ".br" : ""}`);
      if (!file) throw notFound("File");
      const headers = {
        ETag: file.etag,
        "Cache-Control": "public, max-age=31536000, immutable",
        Vary: "Accept-Encoding",
      };
      if (matchesEtag(c.req.header("If-None-Match"), file.etag)) return c.body(null, 304, headers);
      return c.body(file.bytes, 200, {
        ...headers,
        "Content-Type": types[ending],
        ...(brotli ? { "Content-Encoding": "br" } : {}),
      });
    });
  if (options.edition.has("administration")) routes.get("/reset", page("no-cache"));
  return routes;
}
