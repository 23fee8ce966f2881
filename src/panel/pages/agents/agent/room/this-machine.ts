/** Whether an address always means the reader's own machine (RFC 6761, RFC 1122 §3.2.1.3, RFC 4291 §2.5). */
export function isThisMachine(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  return /^(localhost|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])\.?$/.test(host);
}
