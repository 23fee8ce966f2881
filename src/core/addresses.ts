const everywhere = new Set(["0.0.0.0", "::", "127.0.0.1", "::1", "localhost"]);

/** The address on this machine of a server that listens on `host`. */
export function localAddress(host: string, port: number): string {
  if (everywhere.has(host)) return `http://localhost:${port}`;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Whether others can read the traffic to an address. */
export function isUnencrypted(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !isLocal(hostname);
}

/** Whether a host is this machine, so that its traffic stays here. */
export function isLocal(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/.test(host);
}
