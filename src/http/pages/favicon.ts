import { router } from "../route.ts";

const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#2450c4"/>
<path d="M8 10.5A2.5 2.5 0 0 1 10.5 8h11a2.5 2.5 0 0 1 2.5 2.5v7a2.5 2.5 0 0 1-2.5 2.5H15l-4.5 4v-4A2.5 2.5 0 0 1 8 17.5z" fill="#fff"/>
</svg>
`;

const headers = { "Content-Type": "image/svg+xml", "Cache-Control": "public, max-age=86400" };

/** The icon of this server's pages. */
export const faviconRoutes = router()
  .get("/favicon.svg", (c) => c.body(picture, 200, headers))
  .get("/favicon.ico", (c) => c.body(picture, 200, headers));
