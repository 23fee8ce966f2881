/** The destination of a request. */
export interface Destination {
  /** In lower case, without brackets and a trailing dot. */
  host: string;
  port: number;
  https: boolean;
}

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** Reads an http or https address; null for another text. */
export function destinationOf(text: string): Destination | null {
  const url = URL.parse(text);
  const defaultPort = defaultPorts[url?.protocol ?? ""];
  if (!url || defaultPort === undefined) return null;
  const port = url.port === "" ? defaultPort : Number(url.port);
  return { host: bareHost(url.hostname), port, https: url.protocol === "https:" };
}

const bareHost = (hostname: string) => hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");

export const isSameDestination = (a: Destination | null, b: Destination | null) =>
  a?.host === b?.host && a?.port === b?.port && a?.https === b?.https;

/**
 * Whether an entry, `host` or `host:port`, allows a destination. An entry without a port allows only https, since
 * anyone could read plain http.
 */
export function admits(entry: string, { host, port, https }: Destination): boolean {
  const named = destinationOf(`https://${entry}`);
  if (named?.host !== host || named.port !== port) return false;
  return https || /:\d+$/.test(entry.replace(/^\[.*\]/, ""));
}
