/** Other spellings of a path that some proxies and routers are known to read differently. */
export function spellings(path: string): string[] {
  const segments = path.split("/").slice(1);
  const each = (change: (segment: string, index: number) => string) =>
    segments.map((_one, at) => `/${segments.map((one, index) => (index === at ? change(one, index) : one)).join("/")}`);
  const last = segments.at(-1) ?? "";
  return [
    ...["/", "//", "/.", "/./", ";x", ";", "%00", "%20", "%09", "%0d%0a", ".json", "%2e", "?", "%3f", "%23", "\\"].map(
      (end) => path + end,
    ),
    ...[`/${path}`, `//${path}`, `/.${path}`, `/x/..${path}`, `/x/%2e%2e${path}`, `/%2e${path}`, `/..${path}`],
    ...[`http://localhost${path}`, `http://elsewhere.example${path}`],
    ...each((segment) => `/${segment}`),
    ...each((segment) => `./${segment}`),
    ...each((segment) => `x/../${segment}`),
    ...each((segment) => `${segment};x=1`),
    ...each((segment) => segment.toUpperCase()),
    ...each((segment) => `%${(segment.codePointAt(0) ?? 0).toString(16)}${segment.slice(1)}`),
    ...each((segment) => `%25${(segment.codePointAt(0) ?? 0).toString(16)}${segment.slice(1)}`),
    ...each((segment) => `${segment}%00`),
    ...each((segment) => `x%2F..%2F${segment}`),
    ...each((segment) => `x%252F..%252F${segment}`),
    ...segments
      .slice(1)
      .map((_one, at) => `/${segments.slice(0, at + 1).join("/")}%2F${segments.slice(at + 1).join("/")}`),
    path.replaceAll("/", "\\"),
    path.replace(last, `${last}%2F`),
    path.replace(last, encodeURIComponent(encodeURIComponent(`${last}/`))),
  ];
}
